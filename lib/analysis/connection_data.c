/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets on IPoIB connections: a P_Key that is not the connection's, with which the receiver drops
 * the packet (IBA 9.6.1.1.4), and data that shows that a connection was set up.
 */
#include "analysis/question.h"

APART static void wrong_pkey(const struct watch *w, const struct connection *c)
{
    uint16_t lid = port_to_lid(w->p->src);
    struct sender who = lid ? sender_of_lid(w, lid) : (struct sender){.known = 0};
    const struct event_key key = event_key(w, EVENT_WRONG_PKEY, NULL, NULL,
                                           (uint64_t)c->number << 16 | w->p->ib.pkey);
    watch_event(w, &key, &who, c->req_frame,
                "it sends on connection %u with P_Key 0x%04x; the connection has P_Key 0x%04x",
                c->number, w->p->ib.pkey, c->pkey);
}

/* The highest bit is the membership, which may differ (IBA 10.9.1.1). */
static bool is_other_pkey(uint16_t a, uint16_t b)
{
    return ((a ^ b) & 0x7fff) != 0;
}

/* Data of the requester stands for the RTU (IBA 12.9.7.1). */
APART static void set_up(const struct watch *w, const struct connection *c)
{
    const struct question_key key = question_key(w, QUESTION_REP, c->number, NULL, NULL);
    struct question *q = question_find(w, &key);
    if (q)
        question_answer(w, q);
}

void watch_connection_data(const struct watch *w)
{
    const struct connection *c = w->p->classification.connection;
    if (is_other_pkey(c->pkey, w->p->ib.pkey) && c->req_frame)
        wrong_pkey(w, c);
    if (!c->rtu_frame && c->rep_frame && !w->p->classification.to_requester)
        set_up(w, c);
}
