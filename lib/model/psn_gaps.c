/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/psn_gaps.h"

/* Further queue pairs are not followed. */
enum { SEQUENCES_MAX = 1 << 14, WINDOW = 64, RECENT = 256 };
#define PSN_BITS UINT32_C(0xffffff)
/* A step of more PSNs is no gap: the queue pair was created anew. */
enum { STEP_MAX = 1 << 16 };
/* Of so many packets, one gap may be a loss. */
enum { PACKETS_PER_GAP = 8 };

struct psn_window {
    struct port_number id; /* must be first: the key */
    uint32_t psn;          /* the highest */
    uint64_t seen;         /* bit n: psn - n was captured; 0: the next one starts anew */
    uint32_t packets, gaps, frame;
    uint64_t missing;
};

struct psn_gaps {
    GHashTable *windows;               /* a set of struct psn_window */
    struct psn_window *recent[RECENT]; /* by the last bits of LID and QPN: no hash is computed */
};

struct psn_gaps *psn_gaps_new(void)
{
    struct psn_gaps *all = g_new0(struct psn_gaps, 1);
    all->windows = g_hash_table_new_full(port_number_hash, port_number_equal, g_free, NULL);
    return all;
}

void psn_gaps_free(struct psn_gaps *all)
{
    if (!all)
        return;
    g_hash_table_destroy(all->windows);
    g_free(all);
}

static void step(struct psn_window *s, uint32_t by, uint32_t frame)
{
    if (by > 1 && by <= STEP_MAX) {
        s->frame = s->frame ? s->frame : frame;
        s->gaps++;
        s->missing += by - 1;
    }
    s->seen = by < WINDOW ? s->seen << by | 1 : 1;
    s->psn = (s->psn + by) & PSN_BITS;
    s->packets++;
}

/* An earlier PSN: a copy, a packet that was captured late, or a new start. */
static void step_back(struct psn_window *s, uint32_t by, uint32_t psn)
{
    if (by >= WINDOW) {
        s->psn = psn;
        s->seen = 1;
    } else if (!(s->seen >> by & 1)) {
        s->seen |= UINT64_C(1) << by;
        s->missing -= s->missing > 0;
        s->packets++;
    }
}

static struct psn_window *window_of(struct psn_gaps *all, const struct port_number *sender,
                                    bool add)
{
    struct psn_window *s = g_hash_table_lookup(all->windows, sender);
    if (s || !add || g_hash_table_size(all->windows) >= SEQUENCES_MAX)
        return s;
    s = g_new0(struct psn_window, 1);
    s->id = *sender;
    g_hash_table_add(all->windows, s);
    return s;
}

/* NULL: it is not followed. */
static struct psn_window *recent_of(struct psn_gaps *all, const struct port_number *sender,
                                    bool add)
{
    struct psn_window **recent = &all->recent[(sender->port.id * 31 + sender->number) % RECENT];
    if (!*recent || !port_number_equal(&(*recent)->id, sender)) {
        struct psn_window *s = sender->port.id ? window_of(all, sender, add) : NULL;
        if (!s)
            return NULL;
        *recent = s;
    }
    return *recent;
}

void psn_gaps_see(struct psn_gaps *all, const struct port_number *sender, uint32_t psn,
                  uint32_t frame, enum psn_evidence evidence)
{
    struct psn_window *s = recent_of(all, sender, evidence == PSN_SURE);
    if (!s)
        return;
    if (!s->seen) {
        s->psn = psn;
        s->seen = 1;
    }
    uint32_t by = (psn - s->psn) & PSN_BITS;
    if (evidence == PSN_NEXT && by != 1)
        return;
    if (by > PSN_BITS / 2)
        step_back(s, PSN_BITS + 1 - by, psn);
    else if (by)
        step(s, by, frame);
}

void psn_gaps_merge(struct psn_gaps *all)
{
    GHashTableIter it;
    gpointer s;
    g_hash_table_iter_init(&it, all->windows);
    while (g_hash_table_iter_next(&it, &s, NULL))
        ((struct psn_window *)s)->seen = 0;
}

uint64_t psn_gaps_missing(const struct psn_gaps *all, uint32_t *frame)
{
    uint64_t missing = 0;
    *frame = 0;
    GHashTableIter it;
    gpointer key;
    g_hash_table_iter_init(&it, all->windows);
    while (g_hash_table_iter_next(&it, &key, NULL)) {
        const struct psn_window *s = key;
        if (!s->missing || s->gaps * PACKETS_PER_GAP > s->packets)
            continue;
        missing += s->missing;
        *frame = *frame && *frame < s->frame ? *frame : s->frame;
    }
    return missing;
}
