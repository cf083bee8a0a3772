/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets that the PSNs of queue pairs show to be missing in the capture: those of IPoIB, and of
 * the GSI. A queue pair counts its packets to all destinations in one sequence (IBA 9.8.2.2), so
 * the capture lost them, or they went where the capture does not see. A queue pair of which many
 * are missing, and of which packets to one port only were captured, is one of another port, whose
 * packets to others are not captured: it does not count. Nor does one of another subnet, of which a
 * router sends some packets.
 */
#ifndef IPOIB_MODEL_PSN_GAPS_H
#define IPOIB_MODEL_PSN_GAPS_H

#include "model/endport.h"

struct psn_gaps;

struct psn_gaps *psn_gaps_new(const struct endports *endports);
void psn_gaps_free(struct psn_gaps *all);

/* How sure it is that an IPoIB queue pair sent the packet with this PSN. */
enum psn_evidence {
    PSN_SURE,
    PSN_OF_QP, /* it is from the queue pair, if this is known */
    PSN_NEXT   /* the packet is corrupt: only if it has the next PSN */
};

/*
 * The port at the end of a directed route, whose SMI answers; agent: the upper half of the
 * transaction ID. hops: the ports on the way.
 */
struct port port_of_route(uint16_t interface, uint32_t agent, const uint8_t *hops, unsigned n);

/* Instead of a QPN: of a connection, of which only the receiver's QPN is in the packets. */
#define PSN_TO_QP UINT32_C(0x80000000)

struct psn_packet {
    uint32_t psn, frame;
    uint16_t dlid;
    bool by_sa;                 /* it is a response of the SA */
    const uint8_t *sgid, *dgid; /* NULL: it has no GRH */
};

/* A packet of the queue pair. */
void psn_gaps_see(struct psn_gaps *all, const struct port_number *sender,
                  const struct psn_packet *p, enum psn_evidence evidence);

/* The next packet of the queue pair is not compared with this one, or those before. */
void psn_gaps_restart(struct psn_gaps *all, const struct port_number *sender);

/*
 * The subnet manager sets the LID of a port: its queue pairs may have counted on at another LID, so
 * the next packet from this one shows no missing packets.
 */
void psn_gaps_lid_is_set(struct psn_gaps *all, struct port port, uint32_t frame);

/* The queue pairs of a port that may answer a request. */
enum psn_class { PSN_SMI, PSN_GSI, PSN_DATA };

/* What these queue pairs of a port sent, as far as it was captured. */
struct psn_sender {
    uint32_t last_frame;    /* the last packet */
    uint32_t gap_frame;     /* the last one before which packets are missing; 0: none are */
    uint32_t any_gap_frame; /* the same, also of queue pairs whose gaps do not count */
};

/* The port is that of any of its LIDs. NULL: no packet of these queue pairs was captured. */
const struct psn_sender *psn_gaps_sender(const struct psn_gaps *all, struct port port,
                                         enum psn_class class);

/*
 * Two interfaces turned out to see one subnet: the next datagram of each queue pair is not compared
 * with the previous one, which may have been captured on the other interface.
 */
void psn_gaps_merge(struct psn_gaps *all);

/* How many packets are missing; frame: the first one after a gap, 0: none. */
uint64_t psn_gaps_missing(const struct psn_gaps *all, uint32_t *frame);

#endif
