/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A packet that the fabric learns from; for the files of model/ only. */
#ifndef IPOIB_MODEL_OBSERVATION_H
#define IPOIB_MODEL_OBSERVATION_H

#include "model/events_add.h"
#include "model/fabric.h"

struct observation {
    struct fabric *f;
    const struct packet *p;
    struct events *e;
};

/* ARP and Neighbour Discovery (address.c): who has which address, and who asked for it. */
void learn_addresses(const struct observation *o);

#endif
