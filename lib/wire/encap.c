/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/encap.h"
#include "wire/arp.h"
#include "wire/ip.h"
#include "wire/lladdr.h"

enum wire_result encap_decode(struct view v, struct encap *e)
{
    enum wire_result r = view_has(v, 0, ENCAP_SIZE);
    if (r != WIRE_OK)
        return r;
    e->type = be16(v.p + ENCAP_TYPE);
    e->reserved = be16(v.p + ENCAP_RESERVED);
    return WIRE_OK;
}

uint32_t encap_datagram_length(struct view v)
{
    struct view d = view_from(v, ENCAP_SIZE);
    struct encap e;
    if (encap_decode(v, &e) != WIRE_OK || d.cap == 0)
        return 0;
    uint8_t version = d.p[0] >> 4;
    if (e.type == TYPE_IPV4 && version == 4 && d.cap >= IPV4_TOTAL_LENGTH + 2)
        return be16(d.p + IPV4_TOTAL_LENGTH);
    if (e.type == TYPE_IPV6 && version == 6 && d.cap >= IPV6_PAYLOAD_LENGTH + 2) {
        uint32_t n = be16(d.p + IPV6_PAYLOAD_LENGTH);
        return n ? IPV6_SIZE + n : 0; /* 0: a jumbogram (RFC 2675), or nothing */
    }
    return 0;
}

static bool ipv4_agrees(struct view v, struct view d)
{
    uint32_t n = encap_datagram_length(v);
    return d.len >= IPV4_SIZE && d.cap > 0 && d.p[0] >> 4 == 4 && (d.p[0] & 0xf) >= 5 &&
           n >= IPV4_SIZE && n <= d.len;
}

static bool ipv6_agrees(struct view v, struct view d)
{
    return d.len >= IPV6_SIZE && d.cap >= IPV6_PAYLOAD_LENGTH + 2 && d.p[0] >> 4 == 6 &&
           encap_datagram_length(v) <= d.len;
}

static bool arp_agrees(struct view d)
{
    if (d.len < ARP_SIZE_FIXED || d.cap < 2)
        return false;
    return be16(d.p + ARP_HRD) == ARP_HRD_INFINIBAND ||
           (d.cap >= 4 && be16(d.p + ARP_PRO) == TYPE_IPV4);
}

bool encap_agrees(struct view v)
{
    struct view d = view_from(v, ENCAP_SIZE);
    struct encap e;
    if (encap_decode(v, &e) != WIRE_OK)
        return false;
    switch (e.type) {
    case TYPE_IPV4:
        return ipv4_agrees(v, d);
    case TYPE_IPV6:
        return ipv6_agrees(v, d);
    case TYPE_ARP:
    case TYPE_RARP:
        return arp_agrees(d);
    default:
        return false;
    }
}

/* RFC 1071 checksum of the IPv4 header; also true if the header was not captured completely. */
static bool ipv4_checksum_right(struct view d)
{
    uint32_t size = (d.p[0] & 0xfu) * 4, sum = 0;
    if (d.cap < size)
        return true;
    for (uint32_t i = 0; i < size; i += 2)
        sum += be16(d.p + i);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum == 0xffff;
}

static bool is_ipv4_without_header(struct view v)
{
    return v.cap >= IPV4_SIZE && v.p[0] >> 4 == 4 && (v.p[0] & 0xfu) >= 5 &&
           v.cap >= (v.p[0] & 0xfu) * 4 && be16(v.p + IPV4_TOTAL_LENGTH) >= v.len &&
           ipv4_checksum_right(v);
}

/* Unicast addresses that are in use: 2000::/3, fc00::/7, fe80::/10 (RFC 4291 2.4, RFC 4193). */
static bool is_ipv6_unicast(const uint8_t *p)
{
    return p[0] >> 5 == 1 || p[0] >> 1 == 0x7e || (p[0] == 0xfe && p[1] >> 6 == 2);
}

static bool is_ipv6_without_header(struct view v, bool first)
{
    if (v.cap < IPV6_SIZE || v.p[0] >> 4 != 6)
        return false;
    uint32_t n = (uint32_t)IPV6_SIZE + be16(v.p + IPV6_PAYLOAD_LENGTH);
    return first ? n > v.len && is_ipv6_unicast(v.p + IPV6_SOURCE) &&
                       (v.p[IPV6_DESTINATION] == 0xff || is_ipv6_unicast(v.p + IPV6_DESTINATION))
                 : n == v.len;
}

static bool is_arp_without_header(struct view v)
{
    return v.cap >= ARP_SIZE_FIXED && be16(v.p + ARP_HRD) == ARP_HRD_INFINIBAND &&
           be16(v.p + ARP_PRO) == TYPE_IPV4 && v.p[ARP_HLN] == LLADDR_SIZE &&
           v.p[ARP_PLN] == IPV4_ADDRESS_SIZE;
}

const char *encap_missing(struct view v, bool first)
{
    return is_ipv4_without_header(v)          ? "an IPv4 datagram without it"
           : is_ipv6_without_header(v, first) ? "an IPv6 datagram without it"
           : is_arp_without_header(v)         ? "an ARP message without it"
                                              : NULL;
}

bool encap_is_ip(struct view v)
{
    return is_ipv4_without_header(v) || is_ipv6_without_header(v, false) ||
           is_ipv6_without_header(v, true);
}

static bool fits_message(struct view v, bool first)
{
    struct view d = view_from(v, ENCAP_SIZE);
    struct encap e;
    if (encap_decode(v, &e) != WIRE_OK || d.cap < IPV4_SIZE || d.len < IPV4_SIZE)
        return false;
    uint32_t n = encap_datagram_length(v);
    if (n == 0 || (first ? n <= d.len : n > d.len))
        return false;
    if (e.type == TYPE_IPV4)
        return d.p[0] >> 4 == 4 && (d.p[0] & 0xf) >= 5 && ipv4_checksum_right(d);
    return e.type == TYPE_IPV6 && d.p[0] >> 4 == 6;
}

bool encap_begins_message(struct view v, bool first)
{
    struct encap e;
    return encap_decode(v, &e) == WIRE_OK && e.reserved == 0 && fits_message(v, first);
}

bool encap_has_wrong_field(struct view v, bool first)
{
    struct view d = view_from(v, ENCAP_SIZE);
    struct encap e;
    if (encap_decode(v, &e) != WIRE_OK || (e.type != TYPE_IPV4 && e.type != TYPE_IPV6))
        return false;
    if (e.reserved)
        return fits_message(v, first);
    return e.type == TYPE_IPV4 ? is_ipv6_without_header(d, first) : is_ipv4_without_header(d);
}
