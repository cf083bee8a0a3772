/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ARP and RARP over IPoIB: RFC 826 with hardware type 32 and the 20-octet addresses of RFC 4391
 * section 9.2.
 */
#ifndef IPOIB_WIRE_ARP_H
#define IPOIB_WIRE_ARP_H

#include "wire/view.h"

enum { ARP_HRD = 0, ARP_PRO = 2, ARP_HLN = 4, ARP_PLN = 5, ARP_OP = 6, ARP_SIZE_FIXED = 8 };
enum { ARP_HRD_INFINIBAND = 32 };
enum { ARP_REQUEST = 1, ARP_REPLY = 2, RARP_REQUEST = 3, RARP_REPLY = 4 };
enum { INARP_REQUEST = 8, INARP_REPLY = 9 }; /* RFC 2390 */

/*
 * Does a message of this operation contain the sender's own addresses (RFC 826, RFC 2390)? A RARP
 * message may contain another host's.
 */
static inline bool arp_is_announcement(uint16_t op)
{
    return op == ARP_REQUEST || op == ARP_REPLY || op == INARP_REQUEST || op == INARP_REPLY;
}

/* Operations of messages with the Ethertype of RARP (RFC 903) */
static inline bool arp_is_reverse(uint16_t op)
{
    return op == RARP_REQUEST || op == RARP_REPLY;
}

struct arp {
    uint16_t hrd, pro, op;
    uint8_t hln, pln;
    /* offsets of the four addresses from the start of the message; each is hln or pln bytes long */
    uint32_t sha, spa, tha, tpa;
    uint32_t size; /* bytes of the whole message */
};

/*
 * Is the length of the protocol's addresses another than that of its protocol, IPv4 or IPv6? Then
 * the places of all addresses but the sender's link-layer address are unknown.
 */
bool arp_contradicts_protocol(const struct arp *a);

/*
 * WIRE_OK: the whole message was captured. WIRE_TRUNCATED: the fixed part was captured if
 * *have_fixed is set; some addresses were not.
 */
enum wire_result arp_decode(struct view v, struct arp *a, bool *have_fixed);

#endif
