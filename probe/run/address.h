/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses IP addresses given by the user. */
#ifndef IPOIB_PROBE_ADDRESS_H
#define IPOIB_PROBE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns false if the text is not an address. An IPv4-mapped IPv6 address is read as its IPv4
 * address, because no packet has such an address (RFC 4291 §2.5.5.2); *mapped is then true.
 */
bool address_read(const char *text, bool *ipv6, bool *mapped, uint8_t ip[16]);

/* Why no single host on a link can have this address; NULL: a host can have it. */
const char *address_is_no_host(bool ipv6, const uint8_t *ip);

#endif
