/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What IP carries on the link. The tools judge none of it; but the link is blamed for what fails
 * there, so some of it raises events. Private to analysis/.
 */
#ifndef IPOIB_ANALYSIS_IP_H
#define IPOIB_ANALYSIS_IP_H

#include "analysis/watch.h"
#include "model/mix.h"

enum { DHCP6_CLIENT = 546, DHCP6_SERVER = 547 };
enum { PROTOCOL_ICMP = 1, PROTOCOL_TCP = 6, PROTOCOL_UDP = 17, PROTOCOL_ICMPV6 = 58 };

/* A datagram that is no fragment, as far as it was captured. */
struct ip_datagram {
    struct view body;    /* of the protocol, as far as it was captured */
    uint32_t length;     /* of the body, in all packets of the message */
    const uint8_t *from; /* the addresses, one after the other in the header */
    uint8_t header_size; /* with the options of IPv4 */
    uint8_t address_size;
    uint8_t protocol; /* in IPv6 that of the first header */
    uint8_t ttl;
};

static inline const uint8_t *ip_header(const struct ip_datagram *d)
{
    return d->body.p - d->header_size;
}

static inline const uint8_t *ip_to(const struct ip_datagram *d)
{
    return d->from + d->address_size;
}

static inline struct ip ip_sender(const struct ip_datagram *d)
{
    return ip_read(d->from, d->address_size);
}

static inline struct ip ip_receiver(const struct ip_datagram *d)
{
    return ip_read(ip_to(d), d->address_size);
}

/* "IP 10.0.0.2": the text of the receiver. Returns text. */
static inline const char *ip_receiver_text(char text[SENDER_TEXT_SIZE], const struct ip_datagram *d)
{
    struct ip ip = ip_receiver(d);
    struct sender to = sender_with_ip((struct sender){.known = 0}, &ip);
    return sender_text(text, &to);
}

/* What was captured of it after a header that was captured. */
static inline struct view ip_body(struct view v, uint32_t header, uint32_t length)
{
    uint32_t captured = MIN(v.cap - header, length);
    return (struct view){v.p + header, captured, captured};
}

/* The header was captured, and total is not less. */
static inline struct ip_datagram ip_of_ipv4(struct view v, uint32_t header, uint32_t total)
{
    return (struct ip_datagram){.body = ip_body(v, header, total - header),
                                .length = total - header,
                                .from = v.p + IPV4_SOURCE,
                                .header_size = (uint8_t)header,
                                .address_size = IPV4_ADDRESS_SIZE,
                                .protocol = v.p[IPV4_PROTOCOL],
                                .ttl = v.p[IPV4_TTL]};
}

static inline bool ip_read_ipv4(struct view v, struct ip_datagram *d)
{
    if (v.cap < IPV4_SIZE || v.p[0] >> 4 != 4 || be16(v.p + IPV4_FRAGMENT) & IPV4_FRAGMENTED)
        return false;
    uint32_t header = 4 * (v.p[0] & 0x0fu), total = be16(v.p + IPV4_TOTAL_LENGTH);
    if (header < IPV4_SIZE || header > MIN(total, v.cap))
        return false;
    *d = ip_of_ipv4(v, header, total);
    return true;
}

static inline bool ip_read_ipv6(struct view v, struct ip_datagram *d)
{
    if (v.cap < IPV6_SIZE || v.p[0] >> 4 != 6)
        return false;
    uint32_t length = be16(v.p + IPV6_PAYLOAD_LENGTH);
    *d = (struct ip_datagram){.body = ip_body(v, IPV6_SIZE, length),
                              .length = length,
                              .from = v.p + IPV6_SOURCE,
                              .header_size = IPV6_SIZE,
                              .address_size = IPV6_ADDRESS_SIZE,
                              .protocol = v.p[IPV6_NEXT_HEADER],
                              .ttl = v.p[IPV6_HOP_LIMIT]};
    return true;
}

/* The datagram at the start of v, if it is no fragment. */
static inline bool ip_datagram_read(struct view v, bool v4, struct ip_datagram *d)
{
    return v4 ? ip_read_ipv4(v, d) : ip_read_ipv6(v, d);
}

/* fe80::/10: routers do not forward it (RFC 4291 section 2.5.6). */
static inline bool ip_is_link_local(const uint8_t *address)
{
    return (be16(address) & 0xffc0) == 0xfe80;
}

void watch_ip_checksums(const struct watch *w, const struct ip_datagram *d); /* checksums.c */
/*
 * A whole UDP datagram, in IPv4 one with a right header: the number of those of its sender so far,
 * which the caller increments. NULL: none was seen of the sender, or no right IPv4 header of
 * anybody.
 */
uint32_t *watch_udp_count(const struct watch *w, bool v4);
/* Does the next one belong to the sample of those that are summed? */
bool watch_is_summed(uint32_t seen);
/* Is the sum of the datagram right, and not the first such one of all? */
bool watch_sum_is_right(const struct watch *w, const struct ip_datagram *d);
void watch_routing_loop(const struct watch *w, const struct ip_datagram *d); /* routing_loops.c */

/*
 * The same in parts. A hash of what does not change on the way: length, identification (IPv6 has
 * none), addresses and the beginning of the body, which has so many bytes.
 */
enum { ROUTING_BODY = 24 };
static inline uint64_t routing_hash(const struct watch *w, const struct ip_datagram *d,
                                    const uint8_t *body)
{
    bool v4 = d->address_size == IPV4_ADDRESS_SIZE;
    uint64_t h = (uint64_t)packet_link_key(w->p) << 32 | d->length << 16 |
                 (v4 ? be16(d->from - IPV4_SOURCE + IPV4_IDENTIFICATION) : d->protocol);
    if (v4)
        h = mix_two(h, mix_word_at(body), mix_word_at(d->from));
    else
        h = mix_word(mix_gid(mix_gid(h, d->from), ip_to(d)), mix_word_at(body));
    return mix_two(h, mix_word_at(body + 8), mix_word_at(body + 16)) | 1;
}

bool routing_has_seen(const struct watch *w, uint64_t hash);
void routing_begin(const struct watch *w, uint64_t hash, uint8_t ttl);
/* An ICMP error says that the TTL of the datagram has ended. */
void watch_time_exceeded(const struct watch *w, const struct ip_datagram *about);
/* The TTL of the datagram, which came with 1, has ended; it has a larger one (small_ttls.c). */
void watch_small_ttl(const struct watch *w, const struct ip_datagram *about);
void watch_larger_ttl(const struct watch *w, const struct ip_datagram *d);
void watch_tcp(const struct watch *w, const struct ip_datagram *d);   /* tcp.c */
void watch_dhcp6(const struct watch *w, const struct ip_datagram *d); /* dhcp6.c */

#endif
