/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The route of this host to an address, by rtnetlink(7). */
#ifndef IPOIB_PROBE_HOSTROUTE_H
#define IPOIB_PROBE_HOSTROUTE_H

#include <stdbool.h>
#include <stdint.h>

enum route_kind {
    ROUTE_UNKNOWN,   /* the kernel did not answer */
    ROUTE_NONE,      /* no route, or one that forbids the address */
    ROUTE_LINK,      /* the address is on the interface's link */
    ROUTE_GATEWAY,   /* a router forwards the packets */
    ROUTE_LOCAL,     /* an address of this host */
    ROUTE_BROADCAST, /* the broadcast address of a network, or a multicast address */
};

struct host_route {
    enum route_kind kind;
    const char *forbids; /* the type of a route that forbids the address; NULL: none does */
    char interface[32];
    bool has_source;
    uint8_t source[16], gateway[16]; /* of the address's family */
};

/* interface: the one that the packets must leave by; "": any. */
struct host_route host_route_get(bool ipv6, const uint8_t *ip, const char *interface);

#endif
