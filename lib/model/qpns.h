/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QPs that sent IPoIB datagrams. A datagram from or to such a QP is classified as IPoIB whatever
 * its contents, unless its Q_Key differs from the QP's last one.
 */
#ifndef IPOIB_MODEL_QPNS_H
#define IPOIB_MODEL_QPNS_H

#include "model/endport.h"
#include "model/port.h"
#include "model/sequence.h"

/* A QP with the values of the last datagram that it sent. */
struct qp {
    struct port_number id; /* must be first: the key */
    uint32_t qkey;
    uint16_t pkey;
    uint8_t scope;                 /* scope of the last IPoIB group that it sent to; 0: none */
    uint32_t group_frame;          /* its last datagram to an IPoIB group; 0: none */
    const struct endport *endport; /* the port with the source GID of that datagram; or NULL */
    struct sequence sequence; /* a datagram that may be a truncated NA or ARP message is a gap */
    uint32_t gap_seconds;     /* time of the last gap, s since 1970, rounded up */
    uint32_t source; /* ip_digest() of its last IP source that is not link-local; 0: none */
    /*
     * the IPv4 address for which its DHCP client asked all servers of the link, unless it gave the
     * address up or a packet is missing since; 0: none
     */
    uint32_t dhcp_address;
    uint32_t corrupt : 31;   /* the PSN of its last packet, plus 1, if that was corrupt; else 0 */
    uint32_t dhcp_bound : 1; /* a server has granted the address after its last DHCPREQUEST */
};

struct qpns;

/* NULL: not known. */
const struct qp *qpns_find(const struct qpns *s, const struct port *port, uint32_t qpn);

/*
 * Has a datagram to an IPoIB group of the packet's partition had its Q_Key? Used once the table of
 * QPs is full: it does not know then which QP is an interface's.
 */
bool qpns_has_link_key(const struct qpns *s, uint16_t interface, const struct ib_packet *ib);

#endif
