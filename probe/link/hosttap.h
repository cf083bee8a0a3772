/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What passes an interface of this host while its kernel sends a ping: before the filters of
 * packets that arrive, and after those of packets that leave (packet(7)).
 */
#ifndef IPOIB_PROBE_HOSTTAP_H
#define IPOIB_PROBE_HOSTTAP_H

#include <stdbool.h>
#include <stdint.h>

struct host_tap {
    int fd; /* -1: not open */
    bool ipv6;
    uint8_t ip[16]; /* of the peer */
    /* Numbers of packets. */
    unsigned requests, replies; /* echo requests to the peer, and replies from it */
    unsigned sought, found;     /* requests for its link-layer address, and its answers */
    unsigned asked, told;       /* its requests for link-layer addresses, and answers to it */
    unsigned foreign;           /* that arrived with a type that is none of RFC 4391 §6 */
    uint16_t type;              /* of the last of these */
    unsigned long overflows;    /* of the kernel's neighbour table meanwhile */
};

/* Needs CAP_NET_RAW; without it, the tap is not open. */
void host_tap_open(struct host_tap *t, bool ipv6, const uint8_t *ip, const char *interface);
/* Counts what has passed, and closes it. Returns false if it was not open. */
bool host_tap_close(struct host_tap *t);

#endif
