/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/delivered.h"

#include "model/order.h"

enum { COPIES_MIN = 10, GROUPS_MIN = 5, NS_PER_MS = 1000000 };

static bool is_port(uint16_t lid)
{
    return lid != 0 && lid < LID_MULTICAST_FIRST;
}

/* ---- one link */

static void see_to_port(struct delivered *d, const struct packet *p)
{
    const struct ib_packet *ib = &p->ib;
    if (!d->to_ports++) {
        d->links[0].lid = ib->slid;
        d->links[1].lid = ib->dlid;
    }
    for (unsigned i = 0; i < 2; i++)
        if (d->links[i].lid != ib->slid && d->links[i].lid != ib->dlid)
            d->links[i].lid = 0;
    d->to_ports_copies += p->copy_of != 0;
}

static void see_to_group(struct delivered *d, const struct packet *p)
{
    for (unsigned i = 0; i < 2; i++) {
        struct delivered_link *l = &d->links[i];
        if (!l->lid || l->lid == p->ib.slid)
            continue;
        l->packets++;
        l->copies += p->copy_of != 0;
        if (p->copy_of && !l->first)
            l->first = p->at.frame;
    }
}

/* Nearly each has one copy, not more: a packet that goes round has many. */
static bool is_twice(const struct delivered_link *l)
{
    enum { PART = 10, LEAST = 4, MOST = 6 };
    return l->copies >= GROUPS_MIN && l->copies * PART >= l->packets * LEAST &&
           l->copies * PART <= l->packets * MOST;
}

uint64_t delivered_twice(const struct delivered *d, uint32_t *frame)
{
    enum { FEW = 20 };
    bool is_one_link = !d->links[0].lid != !d->links[1].lid;
    const struct delivered_link *l = &d->links[d->links[0].lid ? 0 : 1];
    bool once = d->to_ports >= COPIES_MIN && d->to_ports_copies * FEW <= d->to_ports;
    *frame = l->first;
    return is_one_link && once && is_twice(l) ? l->copies : 0;
}

/* ---- clocks */

bool delivered_is_late(int64_t after_ns)
{
    return after_ns >= ORDER_MS * (int64_t)NS_PER_MS;
}

static void see_late(struct delivered *d, const struct packet *p, int64_t after_ns)
{
    enum { SAME_NS = 5 * NS_PER_MS };
    if (!d->late.all++) {
        d->late.after_ns = after_ns;
        d->late.slid = p->ib.slid;
        d->late.frame = p->at.frame;
    }
    if (after_ns - d->late.after_ns > SAME_NS || d->late.after_ns - after_ns > SAME_NS)
        return;
    d->late.equal++;
    d->late.others += p->ib.slid != d->late.slid;
}

/* What goes round comes after many times; a sender that repeats its packets does so alone. */
uint64_t delivered_late(const struct delivered *d, uint32_t *frame)
{
    enum { PART = 10, OF_PART = 9, OTHERS_MIN = 5 };
    bool is_same = d->late.equal * PART >= d->late.all * OF_PART;
    *frame = d->late.frame;
    return d->late.equal >= COPIES_MIN && is_same && d->late.others >= OTHERS_MIN ? d->late.equal
                                                                                  : 0;
}

void delivered_see(struct delivered *d, const struct packet *p, int64_t after_ns)
{
    enum payload_class class = p->classification.class;
    if (!p->ib.has_lrh || p->ib.transport != IB_UD || class != PAYLOAD_IPOIB ||
        !is_port(p->ib.slid))
        return;
    if (is_port(p->ib.dlid))
        see_to_port(d, p);
    else
        see_to_group(d, p);
    if (p->copy_of && delivered_is_late(after_ns))
        see_late(d, p, after_ns);
}
