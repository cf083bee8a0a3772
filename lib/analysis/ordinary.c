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

/* It fills the IP datagram of this length, and has a checksum. */
static inline bool is_right_udp(const uint8_t *udp, uint32_t length)
{
    return be16(udp + UDP_LENGTH) == length && be16(udp + UDP_CHECKSUM);
}

/* No fragment, from one address to one. */
static inline bool is_right_header(const uint8_t *ip)
{
    return ip[0] == IPV4_WITHOUT_OPTIONS && ip[IPV4_PROTOCOL] == PROTOCOL_UDP &&
           !(be16(ip + IPV4_FRAGMENT) & IPV4_FRAGMENTED) && ip[IPV4_SOURCE] < IPV4_MANY &&
           ip[IPV4_DESTINATION] < IPV4_MANY && checksum_sum_is_right(checksum_sum_20(ip));
}

bool watch_ordinary_ipv4(const struct watch *w)
{
    struct view v = w->p->datagram.body;
    if (!is_intact_to_port(w->p) || w->p->datagram.dhcp_bytes.p || v.cap < IPV4_SIZE + ROUTING_BODY)
        return false;
    uint32_t total = be16(v.p + IPV4_TOTAL_LENGTH);
    if (total > v.cap || total < IPV4_SIZE + ROUTING_BODY ||
        !is_right_udp(v.p + IPV4_SIZE, total - IPV4_SIZE) || !is_right_header(v.p))
        return false;
    uint32_t *seen = watch_unsummed_udp(w, true);
    if (!seen)
        return false;
    const struct ip_datagram d = ip_of_ipv4(v, IPV4_SIZE, total);
    uint64_t hash = routing_hash(w, &d, d.body.p);
    if (routing_has_seen(w, hash))
        return false;
    ++*seen;
    routing_begin(w, hash, d.ttl);
    return true;
}

/* To an address of the link, so no router forwards it; and not DHCP. */
static inline bool is_right_ipv6(const uint8_t *ip)
{
    uint16_t to = be16(ip + IPV6_SIZE + UDP_TO);
    return ip[0] >> 4 == 6 && ip[IPV6_NEXT_HEADER] == PROTOCOL_UDP && ip[IPV6_SOURCE] < IPV6_MANY &&
           ip_is_link_local(ip + IPV6_DESTINATION) && to != DHCP6_CLIENT && to != DHCP6_SERVER;
}

bool watch_ordinary_ipv6(const struct watch *w)
{
    struct view v = w->p->datagram.body;
    if (!is_intact_to_port(w->p) || v.cap < IPV6_SIZE + UDP_SIZE)
        return false;
    uint32_t length = be16(v.p + IPV6_PAYLOAD_LENGTH);
    if (length < UDP_SIZE || length > v.cap - IPV6_SIZE || !is_right_udp(v.p + IPV6_SIZE, length) ||
        !is_right_ipv6(v.p))
        return false;
    uint32_t *seen = watch_unsummed_udp(w, false);
    if (!seen)
        return false;
    ++*seen;
    return true;
}
