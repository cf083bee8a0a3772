/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host's neighbour table, read by netlink: /proc/net/arp and many tools truncate 20-byte
 * addresses.
 */
#ifndef IPOIB_PROBE_HOSTNEIGH_H
#define IPOIB_PROBE_HOSTNEIGH_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/lladdr.h"

struct host_neighbour {
    gboolean ipv6;
    uint8_t ip[16];
    uint8_t lladdr[LLADDR_SIZE];
    gboolean permanent; /* made by hand: the kernel never renews it */
};

/*
 * The interface's neighbours with a known link-layer address, as struct host_neighbour. NULL: the
 * kernel did not answer.
 */
GArray *hostneigh_read(const char *interface);
/* The one with that address, 4 or 16 bytes. Returns false if there is none. */
bool hostneigh_find(const char *interface, bool ipv6, const uint8_t *ip,
                    struct host_neighbour *out);

#endif
