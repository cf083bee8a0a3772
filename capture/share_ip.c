/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ARP, IPv4, IPv6, ICMP, UDP and TCP of a shared capture. See share_ip.h. */
#include "capture/share_ip.h"

#include "wire/checksum.h"
#include "wire/ip.h"
#include "wire/lladdr.h"
#include "wire/membership.h"
#include "wire/nd.h"
#include "wire/put.h"

/* ---- spans */

struct span span_from(struct span s, uint32_t off)
{
    off = off < s.cap ? off : s.cap;
    return (struct span){s.p + off, s.cap - off};
}

void span_clear_part(struct span s, uint32_t off, uint32_t n)
{
    struct span from = span_from(s, off);

    if (from.cap)
        memset(from.p, 0, n < from.cap ? n : from.cap);
}

void span_clear(struct span s, uint32_t off)
{
    span_clear_part(s, off, UINT32_MAX);
}

uint8_t *span_field(struct span s, uint32_t off, uint32_t n)
{
    if (off <= s.cap && n <= s.cap - off)
        return s.p + off;
    span_clear_part(s, off, n);
    return NULL;
}

/* N octets at OFF that are an address of the family. */
static void map_at(struct share_map *m, struct span s, uint32_t off, uint32_t n)
{
    uint8_t *p = span_field(s, off, n);

    if (p && n == IPV4_ADDRESS_SIZE)
        share_ipv4(m, p);
    else if (p && n == IPV6_ADDRESS_SIZE)
        share_ipv6(m, p);
    else if (p)
        memset(p, 0, n);
}

static void map_lladdr_at(struct share_map *m, struct span s, uint32_t off)
{
    uint8_t *p = span_field(s, off, LLADDR_SIZE);

    if (p)
        share_lladdr(m, p);
}

/* ---- ARP */

static void map_hardware(struct share_map *m, struct span s, uint32_t off, uint8_t length)
{
    if (length == LLADDR_SIZE)
        map_lladdr_at(m, s, off);
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
    map_at(m, s, a->spa, a->pln);
    map_hardware(m, s, a->tha, a->hln);
    map_at(m, s, a->tpa, a->pln);
    span_clear(s, a->size);
}

/* ---- checksums */

/* A message with a checksum over a pseudo-header (RFC 9293 §3.1, RFC 8200 §8.1). */
struct summed {
    struct span s;     /* as far as the datagram goes and was captured */
    uint32_t length;   /* octets that it has */
    uint32_t at;       /* of the checksum */
    uint32_t pseudo;   /* the sum of the pseudo-header's addresses, protocol and length */
    bool zero_is_none; /* UDP */
};

/* What was not captured counts as zeros, as payload is. */
static uint16_t sum_of(const struct summed *c)
{
    return checksum_fold(checksum_add(c->pseudo, c->s.p, c->s.cap));
}

/* Was it right, as far as that can be told? In a datagram that was cut it is taken to be. */
static bool was_right(const struct summed *c)
{
    return c->s.cap < c->length || sum_of(c) == 0;
}

static void sum_anew(const struct summed *c, bool right)
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

/* ---- ICMPv6 */

enum { ND_OPT_PREFIX = 3, ND_OPT_MTU = 5, ND_OPT_ROUTE = 24, ND_OPT_DNS = 25 };
enum { ICMP_HEADER = 8, ND_REDIRECT_DESTINATION = 24 };

static void share_nd_option(struct share_map *m, struct span s, const struct nd_option *o)
{
    switch (o->type) {
    case ND_OPT_SOURCE_LLADDR:
    case ND_OPT_TARGET_LLADDR:
        if (nd_is_ipoib_lladdr(o))
            map_lladdr_at(m, s, o->off + ND_OPT_LLADDR);
        else
            span_clear_part(s, o->off + 2, o->size - 2);
        break;
    case ND_OPT_PREFIX:
        map_at(m, s, o->off + 16, IPV6_ADDRESS_SIZE);
        span_clear_part(s, o->off + 32, o->size > 32 ? o->size - 32 : 0);
        break;
    case ND_OPT_DNS:
        for (uint32_t at = 8; at + IPV6_ADDRESS_SIZE <= o->size; at += IPV6_ADDRESS_SIZE)
            map_at(m, s, o->off + at, IPV6_ADDRESS_SIZE);
        break;
    case ND_OPT_MTU:
        break;
    default:
        span_clear_part(s, o->off + 2, o->size - 2);
        break;
    }
}

static void share_nd(struct share_map *m, struct span s, struct view v)
{
    struct nd_iter it;
    struct nd_option o;
    uint32_t end;

    if (!nd_options(v, &it)) {
        span_clear(s, ICMP_HEADER);
        return;
    }
    end = it.next;
    while (nd_next(&it, &o)) { /* reads V, which stays as it is */
        share_nd_option(m, s, &o);
        end = o.off + o.size;
    }
    span_clear(s, end);
    if (s.p[0] == ND_NS || s.p[0] == ND_NA || s.p[0] == ND_REDIRECT)
        map_at(m, s, ND_TARGET, IPV6_ADDRESS_SIZE);
    if (s.p[0] == ND_REDIRECT)
        map_at(m, s, ND_REDIRECT_DESTINATION, IPV6_ADDRESS_SIZE);
}

/* Reports of IGMPv3 and MLDv2: records of groups and sources. */
static void share_records(struct share_map *m, struct span s, uint32_t address)
{
    uint8_t *head = span_field(s, 0, REPORT_RECORDS);
    uint32_t at = REPORT_RECORDS;

    for (unsigned left = head ? be16(head + REPORT_RECORD_COUNT) : 0; left; left--) {
        uint8_t *record = span_field(s, at, RECORD_GROUP + address);
        if (!record)
            break;
        uint32_t sources = be16(record + RECORD_SOURCES), aux = record[RECORD_AUX] * 4u;
        map_at(m, s, at + RECORD_GROUP, address);
        at += RECORD_GROUP + address;
        for (uint32_t i = 0; i < sources && at < s.cap; i++, at += address)
            map_at(m, s, at, address);
        span_clear_part(s, at, aux);
        at += aux;
    }
    span_clear(s, at);
}

/* A query, or a report of an older version: the group, and sources of a query (N octets at AT). */
static void share_group(struct share_map *m, struct span s, uint32_t group, uint32_t address,
                        uint32_t count_at)
{
    uint32_t at = group + address;
    uint8_t *count = s.cap > count_at + 2 ? s.p + count_at : NULL;

    map_at(m, s, group, address);
    if (count && s.p[0] != 130 && s.p[0] != 0x11)
        count = NULL;
    for (unsigned left = count ? be16(count) : 0, i = 0; i < left && at + 4 < s.cap; i++)
        map_at(m, s, at + 4 + i * address, address);
    span_clear(s, count ? at + 4 + be16(count) * address : at);
}

enum { MLD_QUERY = 130, MLD_QUERY_SOURCES = 26, IGMP_QUERY = 0x11, IGMP_QUERY_SOURCES = 10 };

static void share_icmpv6(struct share_map *m, struct span s, struct view v)
{
    if (s.cap == 0)
        return;
    if (s.p[0] >= ND_RS && s.p[0] <= ND_REDIRECT)
        share_nd(m, s, v);
    else if (s.p[0] == MLD_V2_REPORT)
        share_records(m, s, IPV6_ADDRESS_SIZE);
    else if (s.p[0] >= MLD_QUERY && s.p[0] <= MLD_V1_DONE)
        share_group(m, s, MLD_GROUP, IPV6_ADDRESS_SIZE, MLD_QUERY_SOURCES);
    else
        span_clear(s, ICMP_HEADER);
}

/* ---- IGMP, ICMP, UDP, TCP */

static void share_igmp(struct share_map *m, struct span s)
{
    if (s.cap && s.p[0] == IGMP_V3_REPORT)
        share_records(m, s, IPV4_ADDRESS_SIZE);
    else
        share_group(m, s, IGMP_GROUP, IPV4_ADDRESS_SIZE, IGMP_QUERY_SOURCES);
}

enum { ICMP_REDIRECT = 5 };

static void share_icmp(struct share_map *m, struct span s)
{
    if (s.cap && s.p[0] == ICMP_REDIRECT)
        map_at(m, s, 4, IPV4_ADDRESS_SIZE);
    span_clear(s, ICMP_HEADER);
}

enum { TCP_OFFSET = 12, TCP_CHECKSUM = 16, TCP_SIZE = 20, UDP_CHECKSUM = 6, UDP_SIZE = 8 };
enum { OPTION_END = 0, OPTION_NOP = 1 };

/* Options that say something of the connection alone: MSS, window scale, SACK, timestamps. */
static bool tcp_option_stays(uint8_t kind)
{
    return (kind >= 2 && kind <= 5) || kind == 8;
}

/* IPv4's options with addresses: record route (7), timestamp (68), source routes (131, 137). */
static bool ipv4_option_stays(uint8_t kind)
{
    return kind == 148; /* router alert */
}

/* What does not stay becomes no-operations. */
static void share_options(struct span s, uint32_t from, uint32_t to, bool (*stay)(uint8_t kind))
{
    while (from < to && from < s.cap && s.p[from] != OPTION_END) {
        uint32_t n = s.p[from] == OPTION_NOP ? 1 : from + 1 < s.cap ? s.p[from + 1] : 0;
        if (n == 0 || n > to - from)
            n = to - from;
        if (!stay(s.p[from]))
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

/* Where the checksum stands; 0: there is none that is known. */
static uint32_t checksum_at(uint8_t protocol)
{
    return protocol == TCP ? TCP_CHECKSUM : protocol == UDP ? UDP_CHECKSUM : 2;
}

static bool has_checksum(uint8_t protocol)
{
    return protocol == ICMP || protocol == IGMP || protocol == TCP || protocol == UDP ||
           protocol == ICMPV6;
}

static void share_message(struct share_map *m, struct span s, uint8_t protocol,
                          const struct datagram *d)
{
    switch (protocol) {
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
        if (d->dhcp_octets.p)
            share_dhcp(m, span_from(s, UDP_SIZE));
        else
            span_clear(s, UDP_SIZE);
        break;
    case ICMPV6:
        share_icmpv6(m, s, d->icmpv6);
        break;
    default:
        span_clear(s, 0);
        break;
    }
}

/* ---- IP */

/* The sum of the addresses, protocol and length; ICMP and IGMP of IPv4 have no pseudo-header. */
static uint32_t pseudo(const uint8_t *source, uint32_t addresses, uint8_t protocol, uint32_t length)
{
    if (protocol == ICMP || protocol == IGMP)
        return 0;
    return checksum_add(protocol + (length >> 16) + (length & 0xffff), source, addresses);
}

/* What follows the IP header, of LENGTH octets; the two addresses stand at SOURCE. */
struct upper {
    struct span s;
    uint32_t length;
    uint8_t protocol;
    uint8_t *source;
    uint32_t address;
};

static void share_upper(struct share_map *m, const struct upper *u, const struct datagram *d)
{
    struct summed c = {.s = u->s,
                       .length = u->length,
                       .at = checksum_at(u->protocol),
                       .pseudo = pseudo(u->source, 2 * u->address, u->protocol, u->length),
                       .zero_is_none = u->protocol == UDP};
    bool right = was_right(&c);

    map_at(m, (struct span){u->source, 2 * u->address}, 0, u->address);
    map_at(m, (struct span){u->source, 2 * u->address}, u->address, u->address);
    share_message(m, u->s, u->protocol, d);
    c.pseudo = pseudo(u->source, 2 * u->address, u->protocol, u->length);
    if (has_checksum(u->protocol))
        sum_anew(&c, right);
}

static struct span first_of(struct span s, uint32_t n)
{
    return (struct span){s.p, n < s.cap ? n : s.cap};
}

enum { IPV4_CHECKSUM = 10, IPV4_OFFSET_MASK = 0x1fff };

/* A header that is not whole, or contradicts itself: the addresses as far as they are there. */
static void share_broken(struct share_map *m, struct span s, uint32_t source, uint32_t address)
{
    map_at(m, s, source, address);
    map_at(m, s, source + address, address);
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
    struct upper u = {span_from(s, head), total - head, p[IPV4_PROTOCOL], p + IPV4_SOURCE,
                      IPV4_ADDRESS_SIZE};
    if (be16(p + IPV4_FRAGMENT) & IPV4_OFFSET_MASK)
        u.protocol = UINT8_MAX; /* a later fragment has no header */
    share_upper(m, &u, d);
    share_options(s, IPV4_SIZE, head, ipv4_option_stays);
    sum_anew(&c, right);
}

enum { HOP_BY_HOP = 0, ROUTING = 43, FRAGMENT = 44, NO_NEXT = 59, DESTINATION = 60 };

/* Behind the extension headers: where, and which protocol; of a later fragment none. */
static uint32_t skip_extensions(struct span s, uint8_t *protocol)
{
    uint32_t at = IPV6_SIZE;

    for (;;) {
        uint8_t *p = at + 8 <= s.cap ? s.p + at : NULL;
        if (!p || (*protocol != HOP_BY_HOP && *protocol != DESTINATION && *protocol != ROUTING &&
                   *protocol != FRAGMENT))
            return at;
        uint32_t n = *protocol == FRAGMENT ? 8 : (p[1] + 1u) * 8;
        if (*protocol == ROUTING)
            span_clear_part(s, at + 4, n - 4); /* it has addresses */
        if (*protocol == DESTINATION)
            span_clear_part(s, at + 2, n - 2); /* it may have one: RFC 6275 */
        bool later = *protocol == FRAGMENT && be16(p + 2) >> 3;
        *protocol = later ? UINT8_MAX : p[0];
        at += n;
    }
}

static void share_ipv6_packet(struct share_map *m, struct span s, const struct datagram *d)
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
    at = skip_extensions(s, &protocol);
    struct upper u = {span_from(s, at), end > at ? end - at : 0, protocol, p + IPV6_SOURCE,
                      IPV6_ADDRESS_SIZE};
    share_upper(m, &u, d);
}

void share_datagram(struct share_map *m, struct span s, const struct datagram *d)
{
    switch (d->encap.type) {
    case TYPE_ARP:
    case TYPE_RARP:
        share_arp(m, s, d);
        break;
    case TYPE_IPV4:
        share_ipv4_packet(m, s, d);
        break;
    case TYPE_IPV6:
        share_ipv6_packet(m, s, d);
        break;
    default:
        span_clear(s, 0);
        break;
    }
}
