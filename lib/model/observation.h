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

/* Learn neighbours and address requests from ARP and Neighbour Discovery (address.c). */
void learn_addresses(const struct observation *o);
/* Learn that a datagram went to the earlier QPN of an IP address (address.c). */
void learn_stale_use(const struct observation *o);

#endif
