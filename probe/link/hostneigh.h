/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host's neighbour table. By netlink: /proc/net/arp and many tools cut addresses of 20 octets
 * short.
 */
#ifndef IPOIB_PROBE_HOSTNEIGH_H
#define IPOIB_PROBE_HOSTNEIGH_H

#include <glib.h>
#include <stdint.h>

#include "wire/lladdr.h"

struct host_neighbour {
    gboolean ipv6;
    uint8_t ip[16];
    uint8_t lladdr[LLADDR_SIZE];
};

/*
 * Those of the interface whose link-layer address is known: struct host_neighbour. NULL: the kernel
 * does not tell.
 */
GArray *neighbours_of(const char *interface);

#endif
