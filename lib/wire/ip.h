/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Headers of IPv4 (RFC 791 section 3.1) and IPv6 (RFC 8200 section 3): offsets in octets from their
 * start, for the fields that are read.
 */
#ifndef IPOIB_WIRE_IP_H
#define IPOIB_WIRE_IP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    IPV4_TOTAL_LENGTH = 2,
    IPV4_IDENTIFICATION = 4,
    IPV4_FRAGMENT = 6, /* flags (3 bits), fragment offset (13) */
    IPV4_TTL = 8,
    IPV4_PROTOCOL = 9,
    IPV4_SOURCE = 12,
    IPV4_DESTINATION = 16,
    IPV4_SIZE = 20, /* without options */
};
enum {
    IPV6_PAYLOAD_LENGTH = 4,
    IPV6_NEXT_HEADER = 6,
    IPV6_HOP_LIMIT = 7,
    IPV6_SOURCE = 8,
    IPV6_DESTINATION = 24,
    IPV6_SIZE = 40,
};
/* The bits of IPV4_FRAGMENT that are not 0 in a fragment: More Fragments, the fragment offset. */
enum { IPV4_FRAGMENTED = 0x3fff, IPV4_MORE_FRAGMENTS = 0x2000 };
#define IPV4_LIMITED_BROADCAST 0xffffffffu
enum { IPV4_ADDRESS_SIZE = 4, IPV6_ADDRESS_SIZE = 16 };

/* Is that IPv6 address a link-local unicast one, fe80::/10 (RFC 4291 section 2.5.6)? */
static inline bool ipv6_is_link_local(const uint8_t *ip)
{
    return ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80;
}

#endif
