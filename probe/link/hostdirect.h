/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which neighbour takes a packet for an address that no address resolution finds? This host sends
 * echo requests for it directly to the link-layer addresses of neighbours: the port that has the
 * address replies, and a router brings the reply of a host behind it.
 */
#ifndef IPOIB_PROBE_HOSTDIRECT_H
#define IPOIB_PROBE_HOSTDIRECT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/lladdr.h"

enum { DIRECT_ASKED = 16 };

struct direct_reply {
    bool found;
    bool forwarded; /* a router has reduced the reply's TTL or Hop Limit */
    uint8_t lladdr[LLADDR_SIZE];
};

/*
 * Asks the first DIRECT_ASKED neighbours of the interface, and waits up to ms milliseconds. Not
 * found without CAP_NET_RAW, or without a route and a source address.
 */
struct direct_reply host_direct_ask(bool ipv6, const uint8_t *ip, const char *interface,
                                    unsigned ms);

#endif
