/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * UDP datagrams in which no watcher of IP finds anything, as most packets of a capture are: whole,
 * from one port to one other, with right CRCs and a right header, not in the sample of those that
 * are summed, and not seen before. Any other datagram goes to all watchers (ip.c), which ask the
 * same one by one; until then, nothing was noted of it.
 */
#include "analysis/ip.h"
#include "rules/check_context.h"
#include "wire/checksum.h"

enum { UDP_TO = 2, UDP_LENGTH = 4, UDP_CHECKSUM = 6, UDP_SIZE = 8 };
enum { IPV4_WITHOUT_OPTIONS = 0x45, IPV4_MANY = 0xe0, IPV6_MANY = 0xff };

static inline bool is_intact_to_port(const struct packet *p)
{
    return p->integrity.known && p->integrity.is == INTEGRITY_INTACT && p->ib.dqpn != QPN_MULTICAST;
}

static inline bool has_checksum(const uint8_t *udp)
{
    return udp[UDP_CHECKSUM] | udp[UDP_CHECKSUM + 1];
}

static inline bool is_from_one_to_one(const uint8_t *ip)
{
    return ip[IPV4_SOURCE] < IPV4_MANY && ip[IPV4_DESTINATION] < IPV4_MANY;
}

static inline bool is_right_ipv4_udp(const struct watch *w, const uint8_t *ip, uint32_t total)
{
    return is_intact_to_port(w->p) && ip[0] == IPV4_WITHOUT_OPTIONS &&
           ip[IPV4_PROTOCOL] == PROTOCOL_UDP &&
           be16(ip + IPV4_SIZE + UDP_LENGTH) == total - IPV4_SIZE && has_checksum(ip + IPV4_SIZE) &&
           checksum_sum_is_right(checksum_sum_20(ip));
}

/* Of fragments, only those of pings are looked at (echo.c). */
enum ordinary watch_ordinary_ipv4(const struct watch *w)
{
    struct view v = w->p->datagram.body;
    if (w->p->datagram.dhcp_bytes.p || v.cap < IPV4_SIZE + ROUTING_BODY)
        return NOT_ORDINARY;
    uint32_t total = be16(v.p + IPV4_TOTAL_LENGTH);
    if (total > v.cap || total < IPV4_SIZE + ROUTING_BODY || !is_from_one_to_one(v.p))
        return NOT_ORDINARY;
    if (be16(v.p + IPV4_FRAGMENT) & IPV4_FRAGMENTED)
        return v.p[IPV4_PROTOCOL] == PROTOCOL_ICMP ? NOT_ORDINARY : ORDINARY;
    uint32_t *seen = is_right_ipv4_udp(w, v.p, total) ? watch_udp_count(w, true) : NULL;
    if (!seen)
        return NOT_ORDINARY;
    if (watch_is_summed(*seen))
        return ORDINARY_IF_SUM;
    const struct ip_datagram d = ip_of_ipv4(v, IPV4_SIZE, total);
    uint64_t hash = routing_hash(w, &d, d.body.p);
    if (routing_has_seen(w, hash))
        return NOT_ORDINARY;
    ++*seen;
    routing_begin(w, hash, d.ttl);
    return ORDINARY;
}

/* Both lengths are the same. To an address of the link, so no router forwards it; and not DHCP. */
static inline bool is_right_ipv6(const uint8_t *ip)
{
    uint16_t to = be16(ip + IPV6_SIZE + UDP_TO);
    return ip[0] >> 4 == 6 && ip[IPV6_NEXT_HEADER] == PROTOCOL_UDP && ip[IPV6_SOURCE] < IPV6_MANY &&
           memcmp(ip + IPV6_SIZE + UDP_LENGTH, ip + IPV6_PAYLOAD_LENGTH, sizeof(uint16_t)) == 0 &&
           has_checksum(ip + IPV6_SIZE) && ip_is_link_local(ip + IPV6_DESTINATION) &&
           to != DHCP6_CLIENT && to != DHCP6_SERVER;
}

enum ordinary watch_ordinary_ipv6(const struct watch *w)
{
    struct view v = w->p->datagram.body;
    if (!is_intact_to_port(w->p) || v.cap < IPV6_SIZE + UDP_SIZE)
        return NOT_ORDINARY;
    uint32_t length = be16(v.p + IPV6_PAYLOAD_LENGTH);
    if (length < UDP_SIZE || length > v.cap - IPV6_SIZE || !is_right_ipv6(v.p))
        return NOT_ORDINARY;
    uint32_t *seen = watch_udp_count(w, false);
    if (!seen)
        return NOT_ORDINARY;
    if (watch_is_summed(*seen))
        return ORDINARY_IF_SUM;
    ++*seen;
    return ORDINARY;
}

bool watch_sample(const struct watch *w)
{
    bool v4 = w->p->datagram.encap.type == TYPE_IPV4;
    struct ip_datagram d;
    if (!ip_datagram_read(w->p->datagram.body, v4, &d) || !watch_sum_is_right(w, &d))
        return false;
    ++*watch_udp_count(w, v4);
    if (v4)
        watch_routing_loop(w, &d);
    return true;
}
