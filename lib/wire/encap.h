/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The IPoIB encapsulation header (RFC 4391 §6 figure 3, RFC 4755 §4): 4 octets before every
 * datagram.
 */
#ifndef IPOIB_WIRE_ENCAP_H
#define IPOIB_WIRE_ENCAP_H

#include "wire/view.h"

enum { ENCAP_TYPE = 0, ENCAP_RESERVED = 2, ENCAP_SIZE = 4 };

/* RFC 4391 §6 table 1 */
enum { TYPE_IPV4 = 0x0800, TYPE_ARP = 0x0806, TYPE_RARP = 0x8035, TYPE_IPV6 = 0x86dd };

/* The smallest Ethertype; below it stand IEEE 802.3 lengths. */
#define TYPE_FIRST 0x0600

struct encap {
    uint16_t type;
    uint16_t reserved;
};

/* WIRE_OK, WIRE_TRUNCATED or WIRE_MALFORMED (fewer than 4 octets). */
enum wire_result encap_decode(struct view v, struct encap *e);

/*
 * Does what follows the header agree with its Type, as far as it was captured? IPv4: version 4,
 * header length, total length not above what is there; IPv6: version 6, payload length; ARP and
 * RARP: hardware type 32 or a protocol type of IPv4. For payloads of which nothing else says that
 * they are IPoIB. An unknown Type never agrees.
 */
bool encap_agrees(struct view v);

/*
 * What begins where the header should be: an IP datagram whose own length, and for IPv4 checksum,
 * is right, or an ARP message of IPoIB. Constant string; NULL: none of them.
 */
const char *encap_missing(struct view v);

/*
 * Does the first packet of a connection's message begin an IPoIB datagram? Stricter than
 * encap_agrees(), for on connections anything may come: Type IPv4 or IPv6, Reserved 0, an IP header
 * whose length goes beyond this packet (first) or fits it, and for IPv4 a right header checksum, as
 * far as it was captured.
 */
bool encap_begins_message(struct view v, bool first);

/*
 * Octets of the IP datagram by its own length field, 0 where it has none or was not captured; v
 * begins at the encapsulation header.
 */
uint32_t encap_datagram_length(struct view v);

#endif
