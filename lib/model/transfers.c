/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/transfers.h"

/* Transfers at the same time; an overwritten one counts only if it has waited, or lacks a segment.
 */
enum { TRANSFERS = 64, WINDOW = 64 };
/* ns. The next segment may still come. */
#define WAITS INT64_C(1000000000)

struct transfer {
    struct port to; /* id 0: unused */
    uint64_t tid;
    uint64_t seen;    /* bit n: segment highest - n was captured */
    uint32_t highest; /* number of a segment */
    uint32_t missing;
    uint32_t frame;
    int64_t ns;
    bool has_last;
};

struct transfers {
    struct transfer slots[TRANSFERS];
    uint64_t incomplete; /* of those that were overwritten */
    uint32_t frame;      /* of the first of them */
};

struct transfers *transfers_new(void)
{
    return g_new0(struct transfers, 1);
}

static bool is_incomplete(const struct transfer *t, int64_t now)
{
    bool waits = now < t->ns || (uint64_t)now - (uint64_t)t->ns < (uint64_t)WAITS;
    return t->to.id && (t->missing || (!t->has_last && !waits));
}

static void count(uint64_t *n, uint32_t *frame, const struct transfer *t, int64_t now)
{
    if (!is_incomplete(t, now))
        return;
    ++*n;
    *frame = *frame && *frame < t->frame ? *frame : t->frame;
}

static void see_segment(struct transfer *t, uint32_t segment)
{
    if (segment > t->highest) {
        uint32_t by = segment - t->highest;
        t->missing += by - 1;
        t->seen = by < WINDOW ? t->seen << by | 1 : 1;
        t->highest = segment;
    } else if (t->highest - segment < WINDOW && !(t->seen >> (t->highest - segment) & 1)) {
        t->seen |= UINT64_C(1) << (t->highest - segment);
        t->missing -= t->missing > 0;
    }
}

void transfers_see(struct transfers *all, const struct port *to, const struct sa *sa,
                   uint32_t frame, int64_t ns)
{
    struct transfer *t = &all->slots[port_transaction_place(to, sa->mad.tid) % TRANSFERS];
    if (!to->id || sa->rmpp_type != RMPP_TYPE_DATA || !sa->segment)
        return;
    if (!port_same(t->to, *to) || t->tid != sa->mad.tid) {
        count(&all->incomplete, &all->frame, t, ns);
        *t = (struct transfer){.to = *to, .tid = sa->mad.tid, .frame = frame};
    }
    see_segment(t, sa->segment);
    t->has_last |= (sa->rmpp_flags & RMPP_FLAG_LAST) != 0;
    t->ns = ns;
}

uint64_t transfers_incomplete(const struct transfers *all, int64_t now, uint32_t *frame)
{
    uint64_t n = all->incomplete;
    *frame = all->frame;
    for (unsigned i = 0; i < TRANSFERS; i++)
        count(&n, frame, &all->slots[i], now);
    return n;
}
