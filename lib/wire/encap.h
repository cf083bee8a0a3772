/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The IPoIB encapsulation header (RFC 4391 section 6 figure 3, RFC 4755 section 4): 4 octets before
 * each datagram.
 */
#ifndef IPOIB_WIRE_ENCAP_H
#define IPOIB_WIRE_ENCAP_H

#include "wire/view.h"

enum { ENCAP_TYPE = 0, ENCAP_RESERVED = 2, ENCAP_SIZE = 4 };

/* RFC 4391 section 6 table 1 */
enum { TYPE_IPV4 = 0x0800, TYPE_ARP = 0x0806, TYPE_RARP = 0x8035, TYPE_IPV6 = 0x86dd };

/* The smallest Ethertype; smaller values are IEEE 802.3 lengths. */
#define TYPE_FIRST 0x0600

struct encap {
    uint16_t type;
    uint16_t reserved;
};

/* WIRE_OK, WIRE_TRUNCATED or WIRE_MALFORMED (fewer than 4 bytes). */
enum wire_result encap_decode(struct view v, struct encap *e);

/*
 * Do the captured data after the header match its Type? IPv4: version 4, header length, total
 * length at most the data's length; IPv6: version 6, payload length; ARP and RARP: hardware type
 * 32, or protocol type IPv4. For payloads that nothing else identifies as IPoIB. An unknown Type
 * never matches, nor does data that was truncated before the length.
 */
bool encap_agrees(struct view v);

/*
 * Detect a missing encapsulation header: an IP datagram with a right length and, for IPv4,
 * checksum, or an IPoIB ARP message starts in its place. first: v is the first packet of several,
 * so the length exceeds it, and IPv6, which has no checksum, must have addresses that are in use.
 * Returns a constant string; NULL: none of them.
 */
const char *encap_missing(struct view v, bool first);

/* Is it an IP datagram, or the first part of one, by the evidence of encap_missing()? */
bool encap_is_ip(struct view v);

/*
 * Does the first packet of a connected-mode message start with an IPoIB datagram? Stricter than
 * encap_agrees(), because a connection may carry any data: Type IPv4 or IPv6, Reserved 0, an IP
 * length that exceeds this packet (first set) or fits it, and for IPv4 a right header checksum, if
 * the header was captured.
 */
bool encap_begins_message(struct view v, bool first);
/* Does such a datagram follow a header with one wrong field: its Reserved, or the Type of IPv4 or
 * IPv6? */
bool encap_has_wrong_field(struct view v, bool first);

/*
 * Bytes of the IP datagram by its own length field; 0: it has none, it was not captured, or the
 * version is not that of the Type. v starts at the encapsulation header.
 */
uint32_t encap_datagram_length(struct view v);

#endif
