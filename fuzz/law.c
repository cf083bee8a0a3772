/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures of the law of degradation: their violations, and who sends in them. */
#include "fuzz/law.h"

#include <stdio.h>
#include <string.h>

#include "rules/checker.h"

/* ---- random numbers */

uint64_t law_next(struct law_random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

uint32_t law_below(struct law_random *r, uint32_t n)
{
    return (uint32_t)(law_next(r) % n);
}

/* ---- who sent a frame */

uint16_t law_slid(const struct law_frame *f)
{
    return (uint16_t)(f->bytes[6] << 8 | f->bytes[7]);
}

uint64_t law_port(const struct law_capture *c, const struct law_frame *f)
{
    uint64_t mac = 0;
    if (c->linktype == LINKTYPE_ETHERNET && f->cap >= 14) {
        memcpy(&mac, f->bytes + 6, 6);
        return mac;
    }
    if (c->linktype != LINKTYPE_INFINIBAND || f->cap < LAW_LRH || law_slid(f) == LAW_PERMISSIVE)
        return LAW_NO_PORT;
    return law_slid(f);
}

struct port_count {
    uint64_t port;
    unsigned frames;
};

static gint more_frames(gconstpointer a, gconstpointer b)
{
    const struct port_count *x = a, *y = b;
    return x->frames != y->frames ? (x->frames < y->frames ? 1 : -1) : x->port > y->port ? 1 : -1;
}

static void count_port(GArray *counts, uint64_t port)
{
    for (guint i = 0; i < counts->len; i++) {
        struct port_count *p = &g_array_index(counts, struct port_count, i);
        if (p->port == port) {
            p->frames++;
            return;
        }
    }
    struct port_count first = {port, 1};
    g_array_append_val(counts, first);
}

static void list_ports(struct law_capture *c)
{
    GArray *counts = g_array_new(FALSE, FALSE, sizeof(struct port_count));
    for (guint i = 0; i < c->frames->len; i++) {
        uint64_t port = law_port(c, law_at(c->frames, i));
        if (port != LAW_NO_PORT)
            count_port(counts, port);
    }
    g_array_sort(counts, more_frames);
    for (guint i = 0; i < counts->len; i++)
        g_array_append_val(c->ports, g_array_index(counts, struct port_count, i).port);
    g_array_unref(counts);
}

/* ---- sources of ICRCs: a LID or, with a GRH, a GID */

enum { LIDS = 1 << 16, GRH_END = LAW_LRH + 40, SGID = 16, GID_OCTETS = 16 };

static uint32_t root(uint32_t *of, uint32_t lid)
{
    while (of[lid] != lid)
        lid = of[lid] = of[of[lid]];
    return lid;
}

static bool has_grh(const struct law_frame *f)
{
    return f->cap >= GRH_END && (f->bytes[1] & 3) == LNH_GRH;
}

/* Two LIDs that share a GID are one source. */
static void join_by_gid(uint32_t *of, GHashTable *gids, const struct law_frame *f)
{
    GBytes *gid = g_bytes_new(f->bytes + SGID, GID_OCTETS);
    gpointer lid;
    if (g_hash_table_lookup_extended(gids, gid, NULL, &lid)) {
        of[root(of, law_slid(f))] = root(of, GPOINTER_TO_UINT(lid));
        g_bytes_unref(gid);
    } else {
        g_hash_table_insert(gids, gid, GUINT_TO_POINTER(law_slid(f)));
    }
}

static void find_sources(struct law_capture *c)
{
    uint32_t *of = g_new(uint32_t, LIDS);
    GHashTable *gids = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
                                             (GDestroyNotify)g_bytes_unref, NULL);
    GHashTable *known = g_hash_table_new(NULL, NULL);
    c->source = g_new0(uint32_t, c->frames->len + 1);
    for (uint32_t lid = 0; lid < LIDS; lid++)
        of[lid] = lid;
    for (guint i = 0; i < c->frames->len; i++) {
        const struct law_frame *f = law_at(c->frames, i);
        if (has_grh(f))
            join_by_gid(of, gids, f);
    }
    for (guint i = 0; i < c->frames->len; i++) {
        const struct law_frame *f = law_at(c->frames, i);
        if (f->cap < LAW_LRH)
            continue;
        c->source[i] = root(of, law_slid(f));
        if (g_hash_table_add(known, GUINT_TO_POINTER(c->source[i] + 1)))
            g_array_append_val(c->sources, c->source[i]);
    }
    g_hash_table_destroy(known);
    g_hash_table_destroy(gids);
    g_free(of);
}

/* ---- violations */

static struct deviations *linux_list(void)
{
    static struct deviations *list;
    if (!list)
        list = deviations_open("linux", NULL);
    return list;
}

/*
 * The rule, the entity and the value. The number of a connection counts the connections captured
 * before it, so it names no entity of the whole capture.
 */
static void note_violation(void *user, uint32_t frame, const struct finding *f)
{
    (void)frame;
    if (f->outcome != OUTCOME_FAIL ||
        (rules[f->rule].level != RULE_MUST && rules[f->rule].level != RULE_SHOULD))
        return;
    const char *entity = g_str_has_prefix(f->entity, "connection ") ? "connection" : f->entity;
    g_hash_table_add(user, g_strdup_printf("%s: %s: %s", rules[f->rule].id, entity, f->actual));
}

GHashTable *law_violations_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

struct checker *law_checker(GHashTable *found)
{
    return checker_new(NULL, linux_list(), note_violation, found);
}

GHashTable *law_violations(int linktype, const GArray *frames)
{
    GHashTable *found = law_violations_new();
    struct checker *checker = law_checker(found);
    for (guint i = 0; i < frames->len; i++) {
        const struct law_frame *f = law_at(frames, i);
        checker_frame(checker, &(struct capture_frame){i + 1, f->interface, linktype, f->ns,
                                                       view_make(f->bytes, f->cap, f->wire)});
    }
    checker_free(checker);
    return found;
}

/* ---- captures */

struct law_capture *law_capture_new(int linktype)
{
    struct law_capture *c = g_new0(struct law_capture, 1);
    c->linktype = linktype;
    c->frames = g_array_new(FALSE, FALSE, sizeof(struct law_frame));
    c->bytes = g_ptr_array_new_with_free_func(g_free);
    c->ports = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    c->sources = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    return c;
}

void law_capture_free(struct law_capture *c)
{
    g_array_unref(c->frames);
    g_ptr_array_unref(c->bytes);
    g_array_unref(c->ports);
    g_array_unref(c->sources);
    g_free(c->source);
    if (c->violated)
        g_hash_table_destroy(c->violated);
    g_free(c);
}

void law_add(struct law_capture *c, const struct law_frame *f)
{
    struct law_frame copy = *f;
    uint8_t *bytes = g_malloc(f->cap + 1);
    memcpy(bytes, f->bytes, f->cap);
    g_ptr_array_add(c->bytes, bytes);
    copy.bytes = bytes;
    copy.number = c->frames->len;
    g_array_append_val(c->frames, copy);
}

void law_check(struct law_capture *c)
{
    list_ports(c);
    if (c->linktype == LINKTYPE_INFINIBAND)
        find_sources(c);
    c->violated = law_violations(c->linktype, c->frames);
}

bool law_conforms(const struct law_capture *c)
{
    return g_hash_table_size(c->violated) == 0;
}

/* ---- the law */

const char *law_first_missing(GHashTable *a, GHashTable *b)
{
    GHashTableIter i;
    gpointer key;
    g_hash_table_iter_init(&i, a);
    while (g_hash_table_iter_next(&i, &key, NULL))
        if (!g_hash_table_contains(b, key))
            return key;
    return NULL;
}

void law_apply_chain(const struct law_capture *c, const struct law_chain *chain,
                     struct law_frames *f, GPtrArray *changes)
{
    for (unsigned i = 0; i < chain->n && f->frames->len; i++) {
        struct law_change *change = law_draw(c, chain->steps[i], f->frames);
        law_apply(c, change, f);
        if (changes)
            g_ptr_array_add(changes, change);
        else
            law_change_free(change);
    }
}

char *law_broken_by(const struct law_capture *c, const struct law_chain *chain)
{
    struct law_frames f;
    law_frames_init(&f, c);
    law_apply_chain(c, chain, &f, NULL);
    GHashTable *found = law_violations(c->linktype, f.frames);
    bool conforms = law_conforms(c);
    const char *violation = conforms ? law_first_missing(found, c->violated)
                                     : law_first_missing(c->violated, found);
    char *broken = violation ? g_strdup_printf("%s %s", conforms ? "adds" : "loses", violation)
                             : NULL;
    g_hash_table_destroy(found);
    law_frames_free(&f);
    return broken;
}
