/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The networks of this host's IPoIB interfaces: their addresses with prefix lengths. */
#ifndef IPOIB_PROBE_HOSTNET_H
#define IPOIB_PROBE_HOSTNET_H

#include <stdbool.h>
#include <stdint.h>

/* Name of an IPoIB interface whose network contains the address; NULL: none. Free with g_free(). */
char *hostnet_of(bool ipv6, const uint8_t *ip);
/* The same of another interface than that one. */
char *hostnet_other(bool ipv6, const uint8_t *ip, const char *interface);
/* "ib0 10.0.0.2/30, ib1 10.1.0.2/24"; "": no address of that family. Free with g_free(). */
char *hostnet_text(bool ipv6);
/* The same of one interface: "10.0.0.2/30". */
char *hostnet_text_of(const char *interface, bool ipv6);
/*
 * True if the network of the interface that contains the address is larger than usual (IPv4: /24,
 * IPv6: /64), and the address is not in the usual network of the interface's own address.
 */
bool hostnet_is_wide(const char *interface, bool ipv6, const uint8_t *ip);
/*
 * The interface's addresses for which duplicate address detection failed (RFC 4862 §5.4.5), unless
 * it has another one of that scope. Free with g_free(); NULL: there is none.
 */
char *hostnet_dad_failed(const char *interface, bool link_local);
/*
 * True if the IPv4 address is the first one of a network of the interface, which no host has
 * (RFC 1122 §3.2.1.3). Not in networks of two addresses (RFC 3021) or one.
 */
bool hostnet_is_network_address(const char *interface, const uint8_t *ip);

#endif
