/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What dhcp.c and dhcp6.c share. Private to analysis/. */
#ifndef IPOIB_ANALYSIS_DHCP_H
#define IPOIB_ANALYSIS_DHCP_H

#include "analysis/watch.h"
#include "wire/names.h"

/* In the type of a question: a message of DHCPv6. */
enum { DHCP6 = 0x100 };

/* Those that clients send (RFC 8415 section 7.3). */
extern const struct name dhcp6_names[];

/* A reply that is not corrupt; client: where the request came from (dhcp_offers.c). */
void watch_offer(const struct watch *w, const struct sender *client);
/* A message of DHCP for IPv4 that is not corrupt (dhcp_leases.c). */
void watch_lease(const struct watch *w);
/*
 * The server gave this address to a client that asked for another one: the other one, and the frame
 * of the DHCPACK. false: it did not, as far as it was captured.
 */
bool lease_has_other_address(const struct watch *w, uint32_t address, uint32_t *asked,
                             uint32_t *frame);

#endif
