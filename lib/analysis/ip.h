/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What IP carries on the link. The tools judge none of it; but the link is blamed for what fails
 * there, so some of it raises events. Private to analysis/.
 */
#ifndef IPOIB_ANALYSIS_IP_H
#define IPOIB_ANALYSIS_IP_H

#include "analysis/watch.h"

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

void watch_ip_checksums(const struct watch *w, const struct ip_datagram *d); /* checksums.c */
void watch_routing_loop(const struct watch *w, const struct ip_datagram *d); /* routing_loops.c */
/* An ICMP error says that the TTL of the datagram has ended. */
void watch_time_exceeded(const struct watch *w, const struct ip_datagram *about);
/* The TTL of the datagram, which came with 1, has ended; it has a larger one (small_ttls.c). */
void watch_small_ttl(const struct watch *w, const struct ip_datagram *about);
void watch_larger_ttl(const struct watch *w, const struct ip_datagram *d);
/* The datagram at the start of v, if it is no fragment (ip_datagram.c). */
bool ip_datagram_read(struct view v, bool v4, struct ip_datagram *d);
void watch_tcp(const struct watch *w, const struct ip_datagram *d);   /* tcp.c */
void watch_dhcp6(const struct watch *w, const struct ip_datagram *d); /* dhcp6.c */

#endif
