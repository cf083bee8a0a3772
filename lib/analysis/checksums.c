/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wrong checksums of IP datagrams in packets whose CRCs are right: the sender has computed them
 * wrong, as adapters did to which the computation was left, or a device on the way has changed the
 * datagram. Receivers drop it (RFC 1122 section 3.2.1.2, RFC 8200 section 8.1).
 */
#include "analysis/ip.h"
#include "rules/check_context.h"
#include "wire/checksum.h"

enum { UDP_LENGTH = 4, UDP_CHECKSUM = 6, UDP_SIZE = 8, TCP_CHECKSUM = 16, ICMP_CHECKSUM = 2 };

/* It hardly ever has options. */
static bool is_header_right(const struct ip_datagram *d)
{
    return checksum_sum_is_right(d->header.len == IPV4_SIZE
                                     ? checksum_sum_few(d->header.p, IPV4_SIZE)
                                     : checksum_sum(d->header.p, d->header.len));
}

/* With the pseudo header; ICMP of IPv4 has none. */
static bool is_body_right(const struct ip_datagram *d)
{
    uint64_t sum = checksum_sum(d->body.p, d->length);
    if (d->protocol == PROTOCOL_ICMP)
        return checksum_sum_is_right(sum);
    sum += d->address_size == IPV4_ADDRESS_SIZE ? checksum_sum_few(d->from, 2 * IPV4_ADDRESS_SIZE)
                                                : checksum_sum_few(d->from, 2 * IPV6_ADDRESS_SIZE);
    return checksum_sum_is_right(sum + GUINT16_TO_BE(d->length) + GUINT16_TO_BE(d->protocol));
}

/* The place of the checksum in the protocol's header; 0: another protocol. */
static uint32_t place_of(const struct ip_datagram *d)
{
    bool v4 = d->address_size == IPV4_ADDRESS_SIZE;
    switch (d->protocol) {
    case PROTOCOL_TCP:
        return TCP_CHECKSUM;
    case PROTOCOL_UDP:
        return UDP_CHECKSUM;
    case PROTOCOL_ICMP:
        return v4 ? ICMP_CHECKSUM : 0;
    case PROTOCOL_ICMPV6:
        return v4 ? 0 : ICMP_CHECKSUM;
    default:
        return 0;
    }
}

static const char *name_of(uint8_t protocol)
{
    return protocol == PROTOCOL_TCP    ? "TCP"
           : protocol == PROTOCOL_UDP  ? "UDP"
           : protocol == PROTOCOL_ICMP ? "ICMP"
                                       : "ICMPv6";
}

APART static void wrong(const struct watch *w, const struct ip_datagram *d, const char *what)
{
    struct sender who = sender_of(w->f, w->p);
    struct ip from = ip_sender(d);
    char to[SENDER_TEXT_SIZE];
    const struct event_key key = event_key(w, EVENT_WRONG_CHECKSUM, who.gid, from.bytes,
                                           (uint64_t)what[0] << 24 | (uint64_t)what[1] << 16 |
                                               w->p->ib.slid);
    watch_event(w, &key, &who, 0,
                "it sends to %s a datagram with a wrong %s checksum: the receiver drops it",
                ip_receiver_text(to, d), what);
}

/* 0 is a jumbogram's (RFC 2675); of a message of several packets, only the first is here. */
static bool is_udp_too_long(const struct ip_datagram *d)
{
    return d->protocol == PROTOCOL_UDP && view_has(d->body, 0, UDP_SIZE) == WIRE_OK &&
           be16(d->body.p + UDP_LENGTH) > d->length;
}

APART static void udp_too_long(const struct watch *w, const struct ip_datagram *d)
{
    struct sender who = sender_of(w->f, w->p);
    struct ip from = ip_sender(d);
    char to[SENDER_TEXT_SIZE];
    const struct event_key key = event_key(w, EVENT_INVALID_HEADER, who.gid, from.bytes,
                                           UINT64_C(1) << 48 | w->p->ib.slid);
    watch_event(w, &key, &who, 0,
                "it sends to %s with the length %u in the UDP header, but %u bytes are there: the "
                "receiver drops the datagram",
                ip_receiver_text(to, d), be16(d->body.p + UDP_LENGTH), d->length);
}

/* UDP: 0 is no checksum. The length is that of the UDP header, which may be shorter. */
static bool has_checksum(const struct ip_datagram *d, uint32_t at)
{
    if (!at || d->body.cap < d->length || d->length < at + sizeof(uint16_t))
        return false;
    return d->protocol != PROTOCOL_UDP ||
           (be16(d->body.p + at) && be16(d->body.p + UDP_LENGTH) == d->length);
}

void watch_ip_checksums(const struct watch *w, const struct ip_datagram *d)
{
    bool v4 = d->address_size == IPV4_ADDRESS_SIZE;
    if (packet_integrity(w->p) != INTEGRITY_INTACT)
        return;
    if (v4 && !is_header_right(d))
        wrong(w, d, "IPv4");
    else if (is_udp_too_long(d))
        udp_too_long(w, d);
    else if (has_checksum(d, place_of(d)) && !is_body_right(d))
        wrong(w, d, name_of(d->protocol));
}
