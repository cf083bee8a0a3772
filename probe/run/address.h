/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IP addresses as the user writes them. */
#ifndef IPOIB_PROBE_ADDRESS_H
#define IPOIB_PROBE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * False: it is none. An IPv4-mapped IPv6 address is read as the IPv4 address in it, for no packet
 * has such an address (RFC 4291 §2.5.5.2); *mapped says so.
 */
bool address_read(const char *text, bool *ipv6, bool *mapped, uint8_t ip[16]);

/* Why no single host on a link has this address; NULL: one may have it. */
const char *address_is_no_host(bool ipv6, const uint8_t *ip);

#endif
