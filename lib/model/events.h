/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the model learnt from one packet (model/observe.h), for the checks and the dissector. It
 * holds copies of the values that the packet replaced: the model keeps the new values only.
 */
#ifndef IPOIB_MODEL_EVENTS_H
#define IPOIB_MODEL_EVENTS_H

#include "model/neighbour.h"
#include "model/qpns.h"
#include "model/subnet.h"

/*
 * Time allowed between a listener's first report and the join as FullMember, which the kernel does
 * asynchronously.
 */
enum { LISTENER_JOIN_SECONDS = 5 };

/*
 * An IP group that the sender of a datagram reports by IGMP or MLD; or that it has reported before,
 * and listens to still, as the datagram shows.
 */
struct listener {
    uint8_t mgid[MGID_SIZE];
    /* the sender's membership of that group; NULL: not known, or it asked the SA nothing about it
     */
    const struct member *member;
    const struct endport *port; /* the sender, if this packet is no report */
    /* time and capture interface of its first report before this packet; 0: none */
    int64_t reported_ns;
    uint16_t reported_on;
    uint32_t frame; /* of that first report if this packet is no report; 0: it is one */
};

/* Reused for each packet, so that most packets need no memory allocation. */
struct events {
    struct subnet_event *list; /* in the order in which they were learnt */
    unsigned count, room;
    struct listener *listeners;
    unsigned listener_count, listener_room;
    const struct endport *sender; /* sender of a datagram to a group; NULL: not known */
    const struct endport *gsi;    /* port whose GSI sent the packet; NULL: none, or not known */
    bool gsi_whole;               /* no packet of this GSI is missing since its previous one */
    const struct endport *smi;    /* the same for the SMI */
    bool smi_whole;
    bool sa_sent; /* the SA's GSI sent the packet */
    bool has_sender_qp;
    struct qp sender_qp; /* sending QP of a UD datagram, with its values before the packet */
    enum sequence_seen
        sender_seen; /* the datagram in the sequence of this QP; SEEN_NONE: not known */
    bool has_duplicate;
    /* the neighbour entry of another port that had the announced IP address before the packet */
    struct neighbour duplicate;
};

struct events *events_new(void);
void events_free(struct events *e);

#endif
