/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is an address behind a router of the link? Echo requests of this host to the address, sent to the
 * link-layer addresses of neighbours: only a router forwards one, and brings the reply.
 */
#ifndef IPOIB_PROBE_HOSTROUTER_H
#define IPOIB_PROBE_HOSTROUTER_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/lladdr.h"

enum { ROUTERS_ASKED = 16 };

/*
 * Asks the first ROUTERS_ASKED neighbours of the interface, and waits up to ms milliseconds. True:
 * one brought a reply; lladdr has its link-layer address (LLADDR_SIZE bytes). False: none did, or
 * there is no socket, which needs CAP_NET_RAW.
 */
bool host_router_find(bool ipv6, const uint8_t *ip, const char *interface, unsigned ms,
                      uint8_t *lladdr);

#endif
