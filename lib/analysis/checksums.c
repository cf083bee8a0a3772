/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wrong checksums of IP datagrams in packets whose CRCs are right: the sender has computed them
 * wrong, as adapters did to which the computation was left, or a device on the way has changed the
 * datagram. Receivers drop it (RFC 1122 section 3.2.1.2, RFC 8200 section 8.1).
 */
#include "analysis/ip.h"
#include "rules/check_context.h"

enum { UDP_LENGTH = 4, UDP_CHECKSUM = 6, UDP_SIZE = 8, TCP_CHECKSUM = 16, ICMP_CHECKSUM = 2 };

/*
 * A sum of one's complement (RFC 1071) of n bytes in words of four, in the host's order: only its
 * being right matters, which is the same in each order.
 */
static uint64_t sum_bytes(uint64_t sum, const uint8_t *p, uint32_t n)
{
    uint32_t word;
    for (; n >= sizeof word; n -= sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        sum += word;
    }
    word = 0;
    memcpy(&word, p, n);
    return sum + word;
}

static bool is_right(uint64_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum == 0xffff;
}

/* With the pseudo header; ICMP of IPv4 has none. */
static bool is_body_right(const struct ip_datagram *d)
{
    uint8_t end[8] = {0};
    uint64_t sum = sum_bytes(0, d->body.p, d->length);
    if (d->protocol == PROTOCOL_ICMP)
        return is_right(sum);
    end[2] = (uint8_t)(d->length >> 8);
    end[3] = (uint8_t)d->length;
    end[7] = d->protocol;
    sum = sum_bytes(sum, d->from.bytes, d->from.length);
    return is_right(sum_bytes(sum_bytes(sum, d->to.bytes, d->to.length), end, sizeof end));
}

/* The place of the checksum in the protocol's header; 0: another protocol. */
static uint32_t place_of(const struct ip_datagram *d)
{
    bool v4 = d->from.length == IPV4_ADDRESS_SIZE;
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

static void wrong(const struct watch *w, const struct ip_datagram *d, const char *what)
{
    struct sender who = sender_of(w->f, w->p);
    char to[SENDER_TEXT_SIZE];
    struct sender target = sender_with_ip((struct sender){.known = 0}, &d->to);
    const struct event_key key = event_key(w, EVENT_WRONG_CHECKSUM, who.gid, d->from.bytes,
                                           (uint64_t)what[0] << 24 | (uint64_t)what[1] << 16 |
                                               w->p->ib.slid);
    watch_event(w, &key, &who, 0,
                "it sends to %s a datagram with a wrong %s checksum: the receiver drops it",
                sender_text(to, &target), what);
}

/* 0 is a jumbogram's (RFC 2675); of a message of several packets, only the first is here. */
static bool is_udp_too_long(const struct ip_datagram *d)
{
    return d->protocol == PROTOCOL_UDP && view_has(d->body, 0, UDP_SIZE) == WIRE_OK &&
           be16(d->body.p + UDP_LENGTH) > d->length;
}

static void udp_too_long(const struct watch *w, const struct ip_datagram *d)
{
    struct sender who = sender_of(w->f, w->p);
    char to[SENDER_TEXT_SIZE];
    struct sender target = sender_with_ip((struct sender){.known = 0}, &d->to);
    const struct event_key key = event_key(w, EVENT_INVALID_HEADER, who.gid, d->from.bytes,
                                           UINT64_C(1) << 48 | w->p->ib.slid);
    watch_event(w, &key, &who, 0,
                "it sends to %s with the length %u in the UDP header, but %u bytes are there: the "
                "receiver drops the datagram",
                sender_text(to, &target), be16(d->body.p + UDP_LENGTH), d->length);
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
    bool v4 = d->from.length == IPV4_ADDRESS_SIZE;
    if (packet_integrity(w->p) != INTEGRITY_INTACT)
        return;
    if (v4 && !is_right(sum_bytes(0, d->header.p, d->header.len)))
        wrong(w, d, "IPv4");
    else if (is_udp_too_long(d))
        udp_too_long(w, d);
    else if (has_checksum(d, place_of(d)) && !is_body_right(d))
        wrong(w, d, name_of(d->protocol));
}
