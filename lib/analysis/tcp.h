/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The header of TCP (RFC 9293 section 3.1). Private to analysis/. */
#ifndef IPOIB_ANALYSIS_TCP_H
#define IPOIB_ANALYSIS_TCP_H

#include "analysis/ip.h"
#include "analysis/question.h"

enum {
    TCP_PORTS = 0,
    TCP_TO = 2,
    TCP_SEQUENCE = 4,
    TCP_ACKNOWLEDGED = 8,
    TCP_OFFSET = 12,
    TCP_FLAGS = 13,
    TCP_WINDOW = 14,
    TCP_SIZE = 20
};
enum { FLAG_FIN = 0x01, FLAG_SYN = 0x02, FLAG_RST = 0x04, FLAG_ACK = 0x10 };

/* The bytes of data in the segment. */
static inline uint32_t tcp_data(const struct ip_datagram *d)
{
    uint32_t header = 4 * (d->body.p[TCP_OFFSET] >> 4u);
    return d->length - MIN(header, d->length);
}

/* Does the receiver have no room? The window of a segment that ends a connection says nothing. */
static inline bool tcp_has_zero_window(const uint8_t *tcp)
{
    return !be16(tcp + TCP_WINDOW) &&
           (tcp[TCP_FLAGS] & (FLAG_FIN | FLAG_SYN | FLAG_RST | FLAG_ACK)) == FLAG_ACK;
}

/*
 * The segment has the window 0, or one with it was seen before (zero_windows.c). key, by_first: the
 * connection, and which end sends.
 */
APART void watch_zero_window(const struct watch *w, const struct ip_datagram *d,
                             const struct question_key *key, bool by_first);

#endif
