/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of a fabric; for the files of model/ only. */
#ifndef IPOIB_MODEL_FABRIC_STATE_H
#define IPOIB_MODEL_FABRIC_STATE_H

#include "model/evidence.h"
#include "model/fabric.h"
#include "model/write.h"

struct fabric {
    struct fabric_facts facts; /* with the tables that follow, to be read */
    struct endports *endports;
    struct groups *groups;
    struct subnet *subnet;
    struct connections *connections;
    struct neighbours *neighbours;
    struct resolutions *resolutions;
    struct qpns *qpns;
    struct sources *sources;
    struct interfaces *interfaces;
    struct evidence *evidence;
};

/*
 * Decide the rest by what is known of the fabric, and learn which QPs and connections are IPoIB's,
 * and of which ports the CRCs count.
 * Once for each packet, in the order of the capture.
 */
void fabric_classify(struct fabric *f, struct packet *p);

/* The SA may have told somebody other parameters before this frame. */
void fabric_doubt(struct fabric *f, uint32_t frame);

#endif
