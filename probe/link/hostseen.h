/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What passes an interface of this host while its kernel sends a ping: before the filters of
 * packets that arrive, and after those of packets that leave (packet(7)).
 */
#ifndef IPOIB_PROBE_HOSTSEEN_H
#define IPOIB_PROBE_HOSTSEEN_H

#include <stdbool.h>
#include <stdint.h>

struct host_seen {
    int fd; /* -1: not open */
    bool ipv6;
    uint8_t ip[16]; /* of the peer */
    /* Numbers of packets. */
    unsigned echo_requests, echo_replies; /* to the peer, and from it */
    /* Of address resolution: for its link-layer address, and its replies; the other direction. */
    unsigned own_requests, peer_replies, peer_requests, own_replies;
    uint32_t
        fragment; /* bytes of the peer's largest IP datagram that is a first fragment; 0: none */
    unsigned foreign;        /* that arrived with a type that is none of RFC 4391 §6 */
    uint16_t type;           /* of the last of these */
    unsigned long overflows; /* of the kernel's neighbour table meanwhile */
};

/* Needs CAP_NET_RAW; without it, nothing is captured. */
void host_seen_open(struct host_seen *t, bool ipv6, const uint8_t *ip, const char *interface);
/*
 * Counts what has passed, and closes it. Returns false if it was not open, or has lost packets.
 */
bool host_seen_close(struct host_seen *t);

#endif
