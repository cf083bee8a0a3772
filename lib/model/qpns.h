/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QPs that sent IPoIB datagrams. A datagram from or to such a QP is classified as IPoIB whatever
 * its contents, unless its Q_Key differs from the QP's last one.
 */
#ifndef IPOIB_MODEL_QPNS_H
#define IPOIB_MODEL_QPNS_H

#include "model/endport.h"
#include "model/port.h"

/* A QP with the values of the last datagram that it sent. */
struct qp {
    struct port_number id; /* must be first: the key */
    uint32_t qkey;
    uint16_t pkey;
    uint8_t scope;                 /* scope of the last IPoIB group that it sent to; 0: none */
    uint32_t frame;                /* its last datagram */
    uint32_t group_frame;          /* its last datagram to an IPoIB group; 0: none */
    const struct endport *endport; /* the port with the source GID of that datagram; or NULL */
    uint32_t psn; /* PSN of its last datagram; PSNs increase by one (IBA 9.8.2.2) */
    /*
     * last frame before which a datagram of this QP is missing, or that may be a truncated
     * Neighbour Advertisement or ARP message; 0: none
     */
    uint32_t gap_frame;
    uint32_t gap_seconds; /* time of gap_frame, s since 1970, rounded up */
};

struct qpns;

/* Is psn the next PSN, or the same again (a packet that was captured twice)? */
bool qp_continues(const struct qp *qp, uint32_t psn);
/*
 * Were all datagrams of the QP captured that it sent after frame `since` and before the one with
 * this PSN, and its Neighbour Advertisements and ARP messages as a whole?
 */
bool qp_is_followed(const struct qp *qp, uint32_t since, uint32_t psn);
/* NULL: not known. */
const struct qp *qpns_find(const struct qpns *s, const struct port *port, uint32_t qpn);

/*
 * Has a datagram to an IPoIB group of the packet's partition had its Q_Key? Used once the table of
 * QPs is full: it does not know then which QP is an interface's.
 */
bool qpns_has_link_key(const struct qpns *s, uint16_t interface, const struct ib_packet *ib);

#endif
