/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/finding_store.h"
#include "plugin/state.h"
#include "plugin/store.h"

#include <wsutil/report_message.h>

#include "model/hash.h"
#include "rules/sender.h"

/* Texts that many findings of a rule share. */
struct wording {
    const char *expected, *actual, *reason;
};

/* A finding of a frame, in little memory. It is valid until the file is closed. */
struct stored {
    struct stored *next;
    const struct wording *wording;
    const struct sender *sender; /* many findings share it */
    uint32_t offset, length;     /* bytes; the offset is from the start of the frame */
    uint32_t frame;              /* of the packet at fault; 0: this one */
    uint32_t other_frame;        /* OUTCOME_SUSPECTED: as in struct finding */
    uint16_t rule;
    uint8_t outcome : 7, by_flow : 1;
    char entity[]; /* ends with a zero byte */
};

/*
 * Limits the memory that a hostile capture can take. One finding takes at most about 500 bytes,
 * because the checks write `expected`, `actual` and `entity` into buffers of at most 128 bytes. The
 * statistics also count the findings beyond the limit.
 */
enum { STORED_MAX = 100000 };
static unsigned stored_count;

static bool may_store(void)
{
    if (stored_count++ >= STORED_MAX)
        undone_refuse(fabric_undone(state_fabric()), UNDONE_SHOWN);
    if (stored_count == STORED_MAX + 1)
        report_warning("IPoIB: more than %d findings: packets after this one show none. The menu "
                       "Statistics, IPoIB Conformance counts all findings.",
                       STORED_MAX);
    return stored_count <= STORED_MAX;
}

/* Bytes of a text. The checks write less; the reason in a user's list of deviations may be longer.
 */
enum { TEXT_MAX = 4096 };

/* The last wording of each rule. The next finding of the rule mostly has the same texts. */
static const struct wording *last_wording[RULE_COUNT];

static const char *shared(const char *text, const char *last)
{
    if (!text)
        text = "";
    if (last && strcmp(last, text) == 0)
        return last;
    size_t length = strnlen(text, TEXT_MAX);
    return memcpy(store_alloc(length + 1, 1), text, length);
}

static const struct wording *shared_wording(const struct finding *f)
{
    static const struct wording none;
    const struct wording *last = last_wording[f->rule] ? last_wording[f->rule] : &none;
    const struct wording w = {shared(f->expected, last->expected), shared(f->actual, last->actual),
                              shared(f->reason, last->reason)};
    if (memcmp(&w, last, sizeof w) != 0)
        last = last_wording[f->rule] = memcpy(store_alloc(sizeof w, alignof(struct wording)), &w,
                                              sizeof w);
    return last;
}

static GHashTable *senders; /* a set; its members are in the store */

static guint sender_hash(gconstpointer p)
{
    return hash_bytes(p, sizeof(struct sender));
}

static gboolean sender_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(struct sender)) == 0;
}

static const struct sender *shared_sender(const struct sender *s)
{
    if (!s)
        return NULL;
    if (!senders)
        senders = g_hash_table_new(sender_hash, sender_equal);
    struct sender *known = g_hash_table_lookup(senders, s);
    if (known)
        return known;
    known = store_alloc(sizeof *known, alignof(struct sender));
    *known = *s;
    g_hash_table_add(senders, known);
    return known;
}

static struct finding unpack(const struct stored *s)
{
    return (struct finding){.rule = (enum rule_number)s->rule,
                            .outcome = (enum outcome)s->outcome,
                            .offset = s->offset,
                            .length = s->length,
                            .expected = s->wording->expected,
                            .actual = s->wording->actual,
                            .entity = s->entity,
                            .reason = s->wording->reason,
                            .sender = s->sender,
                            .frame = s->frame,
                            .other_frame = s->other_frame,
                            .by_flow = s->by_flow};
}

static struct stored *of_frame(uint32_t frame)
{
    return store_find(frame, DATA_FINDINGS);
}

/* Memory for another finding of the frame, after those that it has. */
static struct stored *add_to_frame(uint32_t frame, size_t size)
{
    struct stored *last = of_frame(frame);
    if (!last)
        return store_add(frame, DATA_FINDINGS, size, alignof(struct stored));
    while (last->next)
        last = last->next;
    return last->next = store_alloc(size, alignof(struct stored));
}

void finding_store_add(uint32_t frame, uint32_t base, const struct finding *f)
{
    if (!may_store())
        return;
    size_t length = strnlen(f->entity, TEXT_MAX);
    size_t size = offsetof(struct stored, entity) + length + 1;
    struct stored *s = add_to_frame(frame, size);
    s->rule = (uint16_t)f->rule;
    s->outcome = (uint8_t)f->outcome & 0x7f;
    s->offset = base + f->offset;
    s->length = f->length;
    s->frame = f->frame;
    s->other_frame = f->other_frame;
    s->by_flow = f->by_flow;
    s->wording = shared_wording(f);
    s->sender = shared_sender(f->sender);
    memcpy(s->entity, f->entity, length);
}

void finding_store_forget(void)
{
    stored_count = 0;
    memset(last_wording, 0, sizeof last_wording);
    g_clear_pointer(&senders, g_hash_table_destroy);
}

bool finding_store_has(uint32_t frame)
{
    return of_frame(frame) != NULL;
}

void finding_store_each(uint32_t frame, void (*each)(void *user, const struct finding *f),
                        void *user)
{
    for (const struct stored *s = of_frame(frame); s; s = s->next) {
        const struct finding f = unpack(s);
        each(user, &f);
    }
}
