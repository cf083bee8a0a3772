/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises ARP, IPv4, IPv6, UDP and TCP. See share_ip.h. */
#include "capture/share/share_ip.h"

#include <string.h>

#include "capture/share/share_icmp.h"
#include "wire/checksum.h"
#include "wire/ip.h"
#include "wire/lladdr.h"
#include "wire/put.h"

/* ---- ARP */

static void map_hardware(struct share_map *m, struct span s, uint32_t off, uint8_t length)
{
    if (length == LLADDR_SIZE)
        span_map_lladdr(m, s, off);
    else
        span_clear_part(s, off, length);
}

static void share_arp(struct share_map *m, struct span s, const struct datagram *d)
{
    const struct arp *a = &d->arp;

    if (!d->arp_has_fixed) {
        span_clear(s, ARP_SIZE_FIXED);
        return;
    }
    map_hardware(m, s, a->sha, a->hln);
    span_map_ip(m, s, a->spa, a->pln);
    map_hardware(m, s, a->tha, a->hln);
    span_map_ip(m, s, a->tpa, a->pln);
    span_clear(s, a->size);
}

/* ---- checksums */

/*
 * A message with a checksum over a pseudo-header (RFC 9293 section 3.1, RFC 8200 section 8.1), or
 * none.
 */
struct summed {
    struct span s;     /* the captured part of the message */
    uint32_t length;   /* length of the message in bytes */
    uint32_t at;       /* offset of the checksum */
    uint32_t pseudo;   /* sum of addresses, protocol, length; 0: no pseudo-header */
    bool zero_is_none; /* UDP: checksum 0 means no checksum */
};

/* Bytes that were not captured count as zeros, like cleared payload. */
static uint16_t sum_of(const struct summed *c)
{
    return checksum_fold(checksum_add(c->pseudo, c->s.p, c->s.cap));
}

/*
 * Whether the checksum was right. In a truncated datagram it cannot be verified and counts as
 * right.
 */
static bool was_right(const struct summed *c)
{
    return c->s.cap < c->length || sum_of(c) == 0;
}

static void update_checksum(const struct summed *c, bool right)
{
    uint8_t *p = span_field(c->s, c->at, 2);
    uint16_t sum;

    if (!p || (c->zero_is_none && be16(p) == 0))
        return;
    put16(p, 0);
    sum = sum_of(c);
    if (!right)
        sum = sum ^ 0x5555;
    put16(p, sum == 0 && c->zero_is_none ? 0xffff : sum);
}

/* ---- UDP, TCP */

enum { TCP_OFFSET = 12, TCP_CHECKSUM = 16, TCP_SIZE = 20, UDP_CHECKSUM = 6, UDP_SIZE = 8 };
enum { OPTION_END = 0, OPTION_NOP = 1 };

/*
 * Options that only describe the connection, of the right length: MSS, window scale, SACK (up to 4
 * blocks), timestamps (RFC 9293 section 3.2, RFC 7323, RFC 2018).
 */
static bool tcp_option_stays(uint8_t kind, uint32_t n)
{
    return (kind == 2 && n == 4) || (kind == 3 && n == 3) || (kind == 4 && n == 2) ||
           (kind == 5 && n <= 34 && n % 8 == 2) || (kind == 8 && n == 10);
}

/*
 * Only router alert. Record route (7), timestamp (68) and source routes (131, 137) contain
 * addresses.
 */
static bool ipv4_option_stays(uint8_t kind, uint32_t n)
{
    return kind == 148 && n == 4; /* router alert (RFC 2113) */
}

/* Replaces the other options by no-operations. */
static void share_options(struct span s, uint32_t from, uint32_t to,
                          bool (*stay)(uint8_t kind, uint32_t n))
{
    while (from < to && from < s.cap && s.p[from] != OPTION_END) {
        uint32_t n = s.p[from] == OPTION_NOP ? 1 : from + 1 < s.cap ? s.p[from + 1] : 0;
        if (n == 0 || n > to - from)
            n = to - from;
        if (!stay(s.p[from], n))
            for (uint32_t i = from; i < from + n && i < s.cap; i++)
                s.p[i] = OPTION_NOP;
        from += n;
    }
    if (from < to)
        span_clear_part(s, from, to - from);
}

static void share_tcp(struct span s)
{
    uint8_t *head = span_field(s, 0, TCP_SIZE);
    uint32_t end = head ? (uint32_t)(head[TCP_OFFSET] >> 4) * 4 : TCP_SIZE;

    end = end < TCP_SIZE ? TCP_SIZE : end;
    share_options(s, TCP_SIZE, end, tcp_option_stays);
    span_clear(s, end);
}

enum { ICMP = 1, IGMP = 2, TCP = 6, UDP = 17, ICMPV6 = 58 };

/* Offset of the checksum in the message; meaningless unless has_checksum. */
static uint32_t checksum_at(uint8_t protocol)
{
    return protocol == TCP ? TCP_CHECKSUM : protocol == UDP ? UDP_CHECKSUM : 2;
}

static bool has_checksum(uint8_t protocol)
{
    return protocol == ICMP || protocol == IGMP || protocol == TCP || protocol == UDP ||
           protocol == ICMPV6;
}

/*
 * The message after the IP header: LENGTH bytes. source: the source address, followed by the
 * destination address; address: bytes of one.
 */
struct upper {
    struct span s;
    uint32_t length;
    uint8_t protocol;
    uint8_t *source;
    uint32_t address;
    bool of_interface; /* as share_datagram() */
};

static void share_message(struct share_map *m, const struct upper *u, const struct datagram *d)
{
    struct span s = u->s;

    switch (u->protocol) {
    case ICMP:
        share_icmp(m, s);
        break;
    case IGMP:
        share_igmp(m, s);
        break;
    case TCP:
        share_tcp(s);
        break;
    case UDP:
        if (d->dhcp_bytes.p)
            share_dhcp(m, span_from(s, UDP_SIZE));
        else
            span_clear(s, UDP_SIZE);
        break;
    case ICMPV6:
        share_icmpv6(m, s, d->icmpv6, u->of_interface);
        break;
    default:
        span_clear(s, 0);
        break;
    }
}

/* ---- IP */

/* Sum of the pseudo-header: addresses, protocol, length. ICMP and IGMP over IPv4 have none. */
static uint32_t pseudo(const uint8_t *source, uint32_t addresses, uint8_t protocol, uint32_t length)
{
    if (protocol == ICMP || protocol == IGMP)
        return 0;
    return checksum_add(protocol + (length >> 16) + (length & 0xffff), source, addresses);
}

static void share_upper(struct share_map *m, const struct upper *u, const struct datagram *d)
{
    struct summed c = {.s = u->s,
                       .length = u->length,
                       .at = checksum_at(u->protocol),
                       .pseudo = pseudo(u->source, 2 * u->address, u->protocol, u->length),
                       .zero_is_none = u->protocol == UDP};
    bool right = was_right(&c);

    span_map_ip(m, (struct span){u->source, 2 * u->address}, 0, u->address);
    span_map_ip(m, (struct span){u->source, 2 * u->address}, u->address, u->address);
    share_message(m, u, d);
    c.pseudo = pseudo(u->source, 2 * u->address, u->protocol, u->length);
    if (has_checksum(u->protocol))
        update_checksum(&c, right);
}

static struct span first_of(struct span s, uint32_t n)
{
    return (struct span){s.p, n < s.cap ? n : s.cap};
}

enum { IPV4_CHECKSUM = 10, IPV4_OFFSET_MASK = 0x1fff };

/*
 * Anonymises a truncated or malformed header: maps the addresses that are present and clears what
 * follows them.
 */
static void share_broken(struct share_map *m, struct span s, uint32_t source, uint32_t address)
{
    span_map_ip(m, s, source, address);
    span_map_ip(m, s, source + address, address);
    span_clear(s, source + 2 * address);
}

static void share_ipv4_packet(struct share_map *m, struct span s, const struct datagram *d)
{
    uint8_t *p = s.cap >= IPV4_SIZE ? s.p : NULL;
    uint32_t head = p ? (p[0] & 0xfu) * 4 : 0, total = p ? be16(p + IPV4_TOTAL_LENGTH) : 0;
    struct summed c = {.s = first_of(s, head), .length = head, .at = IPV4_CHECKSUM};
    bool right;

    if (head < IPV4_SIZE || total < head) {
        share_broken(m, s, IPV4_SOURCE, IPV4_ADDRESS_SIZE);
        return;
    }
    right = was_right(&c);
    span_clear(s, total);
    s = first_of(s, total);
    struct upper u = {.s = span_from(s, head),
                      .length = total - head,
                      .protocol = p[IPV4_PROTOCOL],
                      .source = p + IPV4_SOURCE,
                      .address = IPV4_ADDRESS_SIZE};
    if (be16(p + IPV4_FRAGMENT) & IPV4_OFFSET_MASK)
        u.protocol = UINT8_MAX; /* a later fragment has no upper-layer header */
    share_upper(m, &u, d);
    share_options(s, IPV4_SIZE, head, ipv4_option_stays);
    update_checksum(&c, right);
}

enum { HOP_BY_HOP = 0, ROUTING = 43, FRAGMENT = 44, NO_NEXT = 59, DESTINATION = 60 };

enum { PAD_1 = 0, PAD_N = 1, ROUTER_ALERT = 5, JUMBO = 0xc2 };

/*
 * Replaces the hop-by-hop options by padding, except router alert (RFC 2711) and the length of a
 * jumbogram (RFC 2675): others, such as traces (RFC 9486), contain addresses.
 */
static void share_hop_by_hop(struct span s)
{
    for (uint32_t at = 2; at < s.cap;) {
        uint8_t kind = s.p[at];
        uint32_t n = kind == PAD_1 ? 1 : at + 1 < s.cap ? s.p[at + 1] + 2u : s.cap;
        if (n > s.cap - at) {
            span_clear(s, at); /* zeros are Pad1 options */
            return;
        }
        bool stays = (kind == ROUTER_ALERT && n == 4) || (kind == JUMBO && n == 6);
        if (kind != PAD_1 && !stays) {
            s.p[at] = PAD_N;
            span_clear_part(s, at + 2, n - 2);
        }
        at += n;
    }
}

/*
 * Skips and anonymises the extension headers. Returns the offset after them and the protocol there;
 * UINT8_MAX for a later fragment.
 */
static uint32_t skip_ipv6_extensions(struct span s, uint8_t *protocol)
{
    uint32_t at = IPV6_SIZE;

    for (;;) {
        uint8_t *p = at + 8 <= s.cap ? s.p + at : NULL;
        if (!p || (*protocol != HOP_BY_HOP && *protocol != DESTINATION && *protocol != ROUTING &&
                   *protocol != FRAGMENT))
            return at;
        uint32_t n = *protocol == FRAGMENT ? 8 : (p[1] + 1u) * 8;
        if (*protocol == HOP_BY_HOP)
            share_hop_by_hop(span_part(s, at, n));
        if (*protocol == ROUTING)
            span_clear_part(s, at + 4, n - 4); /* contains addresses */
        if (*protocol == DESTINATION)
            span_clear_part(s, at + 2, n - 2); /* may contain an address (RFC 6275) */
        bool later = *protocol == FRAGMENT && be16(p + 2) >> 3;
        *protocol = later ? UINT8_MAX : p[0];
        at += n;
    }
}

static void share_ipv6_packet(struct share_map *m, struct span s, const struct datagram *d,
                              bool of_interface)
{
    uint8_t *p = s.cap >= IPV6_SIZE ? s.p : NULL;
    uint32_t end = p ? IPV6_SIZE + be16(p + IPV6_PAYLOAD_LENGTH) : 0, at;
    uint8_t protocol = p ? p[IPV6_NEXT_HEADER] : 0;

    if (!p) {
        share_broken(m, s, IPV6_SOURCE, IPV6_ADDRESS_SIZE);
        return;
    }
    span_clear(s, end);
    s = first_of(s, end);
    at = skip_ipv6_extensions(s, &protocol);
    struct upper u = {.s = span_from(s, at),
                      .length = end > at ? end - at : 0,
                      .protocol = protocol,
                      .source = p + IPV6_SOURCE,
                      .address = IPV6_ADDRESS_SIZE,
                      .of_interface = of_interface};
    share_upper(m, &u, d);
}

/*
 * The version decides, not the Type: a Type may be wrong. Of a body that is no IP datagram only the
 * version is kept, for the rules about the Type.
 */
static void share_ip(struct share_map *m, struct span s, const struct datagram *d,
                     bool of_interface)
{
    uint8_t version = s.cap ? s.p[0] >> 4 : 0;

    if (version == 4) {
        share_ipv4_packet(m, s, d);
    } else if (version == 6) {
        share_ipv6_packet(m, s, d, of_interface);
    } else if (s.cap) {
        s.p[0] &= 0xf0;
        span_clear(s, 1);
    }
}

void share_datagram(struct share_map *m, struct span s, const struct datagram *d, bool of_interface)
{
    switch (d->encap.type) {
    case TYPE_ARP:
    case TYPE_RARP:
        share_arp(m, s, d);
        break;
    case TYPE_IPV4:
    case TYPE_IPV6:
        share_ip(m, s, d, of_interface);
        break;
    default:
        span_clear(s, 0);
        break;
    }
}
