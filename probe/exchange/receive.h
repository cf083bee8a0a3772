/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Receives packets. */
#ifndef IPOIB_PROBE_RECEIVE_H
#define IPOIB_PROBE_RECEIVE_H

#include "probe/link/transport.h"
#include "probe/run/target.h"

/*
 * Receives packets for up to ms milliseconds until one matches. Meanwhile responds to ARP and NS
 * for the probe's own address.
 */
bool receive_await(struct target *t, int ms, packet_match *match, void *user);
/* The IP address that an ARP message or an NA announces; NULL: none. */
const uint8_t *receive_announced_ip(struct view v, bool *ipv6);
/*
 * True if a host would accept the packet, which matches otherwise. False: t->unusable has the
 * reason. wrong: a reason that the caller already knows; NULL: none.
 */
bool receive_is_usable(struct target *t, const struct ud_from *from, const char *wrong);
/* Logs and checks a packet, and responds if it requests the probe's address. */
void receive_take(struct target *t, const struct ud_from *from, bool of_peer);
/*
 * Writes the text none (such as "no echo reply"), and whether a response arrived that a host would
 * drop.
 */
void receive_no_response_text(const struct target *t, const char *none, char *out, size_t size);

#endif
