/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the model learnt from one packet (model/observe.h), for the checks and for who shows the
 * packet. The facts that the packet replaced are here by value: the model holds the new ones only.
 */
#ifndef IPOIB_MODEL_EVENTS_H
#define IPOIB_MODEL_EVENTS_H

#include "model/neighbour.h"
#include "model/qpns.h"
#include "model/subnet.h"

/* An IP group that the sender of a datagram says, by IGMP or MLD, that it listens to. */
struct listener {
    uint8_t mgid[MGID_SIZE];
    const struct member *member; /* of the sender in that group; NULL: none is known */
    uint32_t reported_before;    /* member->reported before this packet */
};

/* Used again for each packet: no memory is allocated for most of them. */
struct events {
    struct subnet_event *list; /* in the order in which they were learnt */
    unsigned count, room;
    struct listener *listeners; /* of a datagram to a group */
    unsigned listener_count, listener_room;
    struct endport *sender;    /* of a datagram to a group; NULL: not known */
    const struct endport *gsi; /* the port whose GSI sent the packet; NULL: none, or not known */
    bool gsi_whole;            /* nothing that this GSI sent before is missing */
    const struct endport *smi; /* likewise of its SMI */
    bool smi_whole;
    bool has_sender_qp;
    struct qp sender_qp; /* of a UD datagram, as it was known before */
    bool has_duplicate;
    struct neighbour duplicate; /* another port had the IP that the ARP message announces */
};

struct events *events_new(void);
void events_free(struct events *e);

#endif
