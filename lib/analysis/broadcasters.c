/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does the capture have what is sent to the broadcast group? A host that asks by broadcast, and
 * wants its answer there, needs no packet to itself that was captured: another port has sent to the
 * group, and packets to this port were captured too, so both directions are.
 */
#include "analysis/question.h"
#include "wire/mgid.h"

void watch_broadcaster(const struct watch *w)
{
    const struct ib_packet *ib = &w->p->ib;
    if (!ib->has_lrh || !mgid_is_broadcast(ib->dgid))
        return;
    w->questions->broadcasters[ib->slid % BROADCASTERS] = (struct broadcaster){
        question_busy_ns(w), packet_link_key(w->p), ib->slid};
}

/* It sent within the minute before the last request, or later, and is heard. */
static bool is_heard_to_send(const struct watch *w, const struct broadcaster *b,
                             const struct question *q)
{
    const struct question its = {.key.subnet = q->key.subnet, .lid = b->lid, .busy_ns = q->busy_ns};
    return b->lid && b->lid != q->lid && b->link == (uint32_t)q->key.requester &&
           q->busy_ns / NS_PER_MS - b->busy_ns / NS_PER_MS <= HEARD_MS &&
           question_is_heard(w, &its);
}

bool question_hears_group(const struct watch *w, const struct question *q)
{
    for (unsigned i = 0; q->to_group && i < BROADCASTERS; i++)
        if (is_heard_to_send(w, &w->questions->broadcasters[i], q))
            return true;
    return false;
}
