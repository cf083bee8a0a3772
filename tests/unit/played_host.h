/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This host for the probe's tests: its interfaces, addresses, routes and neighbours, and what is
 * answered to its kernel's own packets. tests/CMakeLists.txt lists the functions that are
 * simulated.
 */
#ifndef IPOIB_TESTS_PLAYED_HOST_H
#define IPOIB_TESTS_PLAYED_HOST_H

#include "unit.h"

#include "probe/link/hostdirect.h"
#include "probe/link/hostneigh.h"
#include "probe/link/hostping.h"
#include "probe/link/hostports.h"
#include "probe/link/hostroute.h"
#include "probe/link/hostseen.h"

enum { HOST_LISTED = 6 };

struct played_host {
    const char *interface;                  /* on the probe's port and partition; NULL: none */
    bool down;                              /* that one */
    const char *parent;                     /* of that one */
    const char *has_address;                /* the interface that has every address; NULL: none */
    const char *is_slave;                   /* of a bond: this interface */
    struct host_route route, route_through; /* route_through: with the interface named, if known */
    struct host_neighbour neighbours[HOST_LISTED];
    unsigned n_neighbours;
    bool no_table; /* the kernel does not list the neighbours */
    struct host_ipoib ipoib[HOST_LISTED];
    unsigned n_ipoib;
    /* Its networks: the text of them, another interface with the target's, a failed address. */
    const char *networks, *other_network, *dad_failed;
    bool wide; /* a prefix is too short */

    /* A ping of the target, with data; largest: the largest IPv4 datagram that is answered. */
    struct host_ping ping;
    uint32_t largest;
    unsigned pings_lost; /* of many */
    /* A single ping: the addresses that reply. Others are silent, or cannot be asked. */
    const char *replies[HOST_LISTED];
    bool cannot_ask;
    struct host_seen seen; /* meanwhile; captured: it was seen */
    bool captured;
    uint16_t path_lid; /* of the kernel's path to the peer; 0: unknown */
    bool tcp;          /* is answered */
    uint32_t udp;      /* the largest IPv4 datagram that is refused */
    struct direct_reply direct;

    struct {
        const char *path, *text;
    } files[HOST_LISTED]; /* unused entries: NULL */
};

extern struct played_host host;

/* ib0 is up, and nothing else is known. */
void host_clear(void);
/* Adds 10.0.0.last, or of ipv6 the link-local address of that port, at that QPN and GID. */
void host_add_neighbour(uint8_t last, bool ipv6, uint8_t qpn, uint8_t gid);
/* Adds an interface that is up. */
void host_add_ipoib(const char *name, const char *device, uint16_t pkey);
void host_add_file(const char *path, const char *text);

#endif
