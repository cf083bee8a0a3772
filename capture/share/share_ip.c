/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises ARP, IPv4, IPv6, UDP and TCP. See share_ip.h. */
#include "capture/share/share_ip.h"

#include <string.h>

#include "capture/share/share_icmp.h"
#include "capture/share/share_layout.h"
#include "capture/share/share_sum.h"
#include "wire/ip.h"
#include "wire/lladdr.h"

/* ---- ARP */

static void share_arp(struct part p, const struct datagram *d)
{
    const struct arp *a = &d->arp;

    part_keep(p, 0, ARP_SIZE_FIXED);
    if (!d->arp_has_fixed)
        return;
    part_map(p, LLADDR, a->sha, a->hln);
    part_map_ip(p, a->spa, a->pln);
    part_map(p, LLADDR, a->tha, a->hln);
    part_map_ip(p, a->tpa, a->pln);
}

/* ---- options of IPv4 and TCP */

enum { OPTION_END = 0, OPTION_NOP = 1 };

/*
 * Options that only describe the connection: MSS, window scale, SACK (up to 4 blocks), timestamps
 * (RFC 9293 section 3.2, RFC 7323, RFC 2018). N: the option's length, which must be right.
 */
static bool tcp_option_stays(uint8_t kind, uint32_t n)
{
    return (kind == 2 && n == 4) || (kind == 3 && n == 3) || (kind == 4 && n == 2) ||
           (kind == 5 && n <= 34 && n % 8 == 2) || (kind == 8 && n == 10);
}

static bool ipv4_option_stays(uint8_t kind, uint32_t n)
{
    return kind == 148 && n == 4; /* router alert (RFC 2113) */
}

/* Keeps the options that stay; all others become no-operations. */
static void share_options(struct part p, bool (*stays)(uint8_t kind, uint32_t n))
{
    uint32_t at = 0;

    while (at < p.cap && p.from[at] != OPTION_END) {
        bool has_length = p.from[at] != OPTION_NOP && at + 1 < p.cap;
        uint32_t n = p.from[at] == OPTION_NOP ? 1 : has_length ? p.from[at + 1] : 0;
        if (has_length && n <= p.cap - at && stays(p.from[at], n))
            part_keep(p, at, n);
        else
            memset(p.to + at, OPTION_NOP, n && n < p.cap - at ? n : p.cap - at);
        at = n ? at + n : p.cap;
    }
}

/* ---- UDP, TCP */

/* Of each protocol: the offset of its checksum, which is 0 in the layouts */
enum { ICMP = 1, IGMP = 2, TCP = 6, UDP = 17, ICMPV6 = 58 };
enum { ICMP_CHECKSUM = 2, UDP_CHECKSUM = 6, TCP_CHECKSUM = 16 };
enum { TCP_OFFSET = 12, TCP_SIZE = 20, UDP_SIZE = 8 };

/* ports, sequence numbers, offset; flags, window. The urgent pointer stays zero. */
static const struct field tcp_layout[] = {KEEP(100), ZERO(3), KEEP(25), LAYOUT_END};
static const struct field udp_layout[] = {KEEP(48), LAYOUT_END};

static void share_tcp(struct part p)
{
    uint32_t end = part_has(p, 0, TCP_SIZE) ? (p.from[TCP_OFFSET] >> 4) * 4u : 0;

    share_layout(p, tcp_layout);
    if (end > TCP_SIZE)
        share_options(part_sub(p, TCP_SIZE, end - TCP_SIZE), tcp_option_stays);
}

/* The message after the headers of a datagram */
struct upper {
    struct part p;
    uint32_t length; /* bytes on the wire */
    uint8_t protocol;
    bool is_fragment;
    struct part addresses; /* source and destination */
    bool of_interface;     /* as share_datagram() */
};

static void share_message(const struct upper *u, const struct datagram *d)
{
    switch (u->protocol) {
    case ICMP:
        share_icmp(u->p);
        break;
    case IGMP:
        share_igmp(u->p);
        break;
    case TCP:
        share_tcp(u->p);
        break;
    case UDP:
        share_layout(u->p, udp_layout);
        if (d->dhcp_bytes.p)
            share_dhcp(part_from(u->p, UDP_SIZE));
        break;
    case ICMPV6:
        share_icmpv6(u->p, d->icmpv6, u->of_interface);
        break;
    default:
        break;
    }
}

/* ICMP and IGMP over IPv4 have no pseudo-header. */
static void share_checksum(const struct upper *u)
{
    struct sum s = {.p = u->p, .length = u->length, .protocol = u->protocol};

    switch (u->protocol) {
    case ICMP:
    case IGMP:
        s.at = ICMP_CHECKSUM;
        break;
    case TCP:
        s.at = TCP_CHECKSUM;
        s.addresses = u->addresses;
        break;
    case UDP:
        s.at = UDP_CHECKSUM;
        s.addresses = u->addresses;
        s.zero_is_none = true;
        break;
    case ICMPV6:
        s.at = ICMP_CHECKSUM;
        s.addresses = u->addresses;
        break;
    default:
        return;
    }
    sum_share(&s);
}

static void share_upper(const struct upper *u, const struct datagram *d)
{
    share_message(u, d);
    if (!u->is_fragment) /* the sum covers all fragments */
        share_checksum(u);
}

/* ---- IP */

enum { IPV4_CHECKSUM = 10, IPV4_OFFSET_MASK = 0x1fff, LATER_FRAGMENT = UINT8_MAX };

/* up to the protocol; checksum; addresses */
static const struct field ipv4_layout[] = {KEEP(80), ZERO(16), MAP_IPV4, MAP_IPV4, LAYOUT_END};
static const struct field ipv6_layout[] = {KEEP(64), MAP_IPV6, MAP_IPV6, LAYOUT_END};

/* The header of HEAD bytes */
static void share_ipv4_header(struct part p, uint32_t head)
{
    share_layout(p, ipv4_layout);
    if (head < IPV4_SIZE)
        return;
    p = part_sub(p, 0, head);
    share_options(part_from(p, IPV4_SIZE), ipv4_option_stays);
    sum_share(&(struct sum){.p = p, .length = head, .at = IPV4_CHECKSUM});
}

static void share_ipv4_packet(struct part p, const struct datagram *d)
{
    uint32_t head = (p.from[0] & 0xfu) * 4;

    share_ipv4_header(p, head);
    if (head < IPV4_SIZE || !part_has(p, 0, head))
        return;
    uint32_t total = be16(p.from + IPV4_TOTAL_LENGTH), flags = be16(p.from + IPV4_FRAGMENT);
    struct upper u = {.length = total > head ? total - head : 0,
                      .protocol = flags & IPV4_OFFSET_MASK ? LATER_FRAGMENT : p.from[IPV4_PROTOCOL],
                      .is_fragment = flags & IPV4_FRAGMENTED,
                      .addresses = part_sub(p, IPV4_SOURCE, 2 * IPV4_ADDRESS_SIZE)};
    u.p = part_sub(p, head, u.length);
    share_upper(&u, d);
}

enum { HOP_BY_HOP = 0, ROUTING = 43, FRAGMENT = 44, DESTINATION = 60 };
enum { PAD_1 = 0, PAD_N = 1, ROUTER_ALERT = 5, JUMBO = 0xc2 };

/* next header, length, routing type, segments left; the rest contains addresses */
static const struct field routing_layout[] = {KEEP(32), LAYOUT_END};
/* next header; offset; M, identification */
static const struct field fragment_layout[] = {KEEP(8), ZERO(8),  KEEP(13),
                                               ZERO(2), KEEP(33), LAYOUT_END};
/* Zeros are Pad1 options. Options may contain addresses (RFC 6275). */
static const struct field destination_layout[] = {KEEP(16), LAYOUT_END};

/*
 * Keeps router alert (RFC 2711) and the length of a jumbogram (RFC 2675). All other options become
 * padding: some, such as traces (RFC 9486), contain addresses.
 */
static void share_hop_by_hop(struct part p)
{
    part_keep(p, 0, 2);
    for (uint32_t at = 2; at < p.cap;) {
        uint8_t kind = p.from[at];
        uint32_t n = kind == PAD_1 ? 1 : at + 1 < p.cap ? p.from[at + 1] + 2u : p.cap;
        if (n > p.cap - at)
            return;
        if ((kind == ROUTER_ALERT && n == 4) || (kind == JUMBO && n == 6)) {
            part_keep(p, at, n);
        } else if (kind != PAD_1) {
            p.to[at] = PAD_N;
            part_keep(p, at + 1, 1);
        }
        at += n;
    }
}

static void share_extension(struct part p, uint8_t kind)
{
    if (kind == HOP_BY_HOP)
        share_hop_by_hop(p);
    else
        share_layout(p, kind == ROUTING    ? routing_layout
                        : kind == FRAGMENT ? fragment_layout
                                           : destination_layout);
}

static bool is_extension(uint8_t kind)
{
    return kind == HOP_BY_HOP || kind == DESTINATION || kind == ROUTING || kind == FRAGMENT;
}

/* Anonymises the extension headers. Sets in U what follows them. Returns its offset. */
static uint32_t share_extensions(struct part p, struct upper *u)
{
    uint32_t at = IPV6_SIZE;

    while (is_extension(u->protocol) && part_has(p, at, 8)) {
        const uint8_t *head = p.from + at;
        uint8_t kind = u->protocol;
        uint32_t n = kind == FRAGMENT ? 8 : (head[1] + 1u) * 8;
        uint16_t offset = be16(head + 2) & 0xfff8, more = be16(head + 2) & 1;

        share_extension(part_sub(p, at, n), kind);
        u->is_fragment |= kind == FRAGMENT && (offset || more);
        u->protocol = kind == FRAGMENT && offset ? (uint8_t)LATER_FRAGMENT : head[0];
        at += n;
    }
    return at;
}

static void share_ipv6_packet(struct part p, const struct datagram *d, bool of_interface)
{
    share_layout(p, ipv6_layout);
    if (!part_has(p, 0, IPV6_SIZE))
        return;
    uint32_t end = IPV6_SIZE + be16(p.from + IPV6_PAYLOAD_LENGTH);
    struct upper u = {.protocol = p.from[IPV6_NEXT_HEADER],
                      .addresses = part_sub(p, IPV6_SOURCE, 2 * IPV6_ADDRESS_SIZE),
                      .of_interface = of_interface};
    p = part_sub(p, 0, end);
    uint32_t at = share_extensions(p, &u);
    u.p = part_from(p, at);
    u.length = end > at ? end - at : 0;
    share_upper(&u, d);
}

/*
 * The version decides, not the Type: a Type may be wrong. Of a body that is no IP datagram only the
 * version is kept, for the rules about the Type.
 */
static void share_ip(struct part p, const struct datagram *d, bool of_interface)
{
    uint8_t version = p.cap ? p.from[0] >> 4 : 0;

    if (version == 4)
        share_ipv4_packet(p, d);
    else if (version == 6)
        share_ipv6_packet(p, d, of_interface);
    else
        part_keep_bits(p, 0, 4);
}

void share_datagram(struct part p, const struct datagram *d, bool of_interface)
{
    switch (d->encap.type) {
    case TYPE_ARP:
    case TYPE_RARP:
        share_arp(p, d);
        break;
    case TYPE_IPV4:
    case TYPE_IPV6:
        share_ip(p, d, of_interface);
        break;
    default:
        break;
    }
}
