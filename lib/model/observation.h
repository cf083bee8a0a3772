/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Context of learning from a packet; only for the files of model/. */
#ifndef IPOIB_MODEL_OBSERVATION_H
#define IPOIB_MODEL_OBSERVATION_H

#include "model/events_add.h"
#include "model/fabric_state.h"

struct observation {
    struct fabric *f;
    const struct packet *p;
    struct events *e;
};

/* The report of a listener, or the end of an interface's membership, is in this packet. */
static inline void member_set_time(struct member *m, const struct packet *p)
{
    m->reported_ns = p->at.ns ? p->at.ns : 1;
    m->reported_on = p->captured_on;
}

/* Learn neighbours and address requests from ARP and Neighbour Discovery (address.c). */
void learn_addresses(const struct observation *o);
/* Learn that a datagram went to the earlier QPN of an IP address (address.c). */
void learn_stale_use(const struct observation *o);

#endif
