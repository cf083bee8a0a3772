/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets in. */
#ifndef IPOIB_PROBE_RECEIVE_H
#define IPOIB_PROBE_RECEIVE_H

#include "probe/link/transport.h"
#include "probe/run/target.h"

/*
 * Receives until a match, for ms milliseconds; answers ARP and NS for the probe's own address
 * meanwhile.
 */
bool await_packet(struct target *t, int ms, packet_match *match, void *user);
/* The IP address that an ARP message or an NA announces; NULL: none. */
const uint8_t *announced(struct view v, bool *ipv6);
/*
 * Does a host accept the packet, which matches in all else? False: t->unusable says why not.
 * wrong: why not, as far as the caller knows; NULL.
 */
bool is_usable(struct target *t, const struct ud_from *from, const char *wrong);
/* Logs and judges a packet, and answers it if it asks for the probe's address. */
void take_packet(struct target *t, const struct ud_from *from, bool of_peer);
/* None in words ("no echo reply"), and whether an answer came that a host would drop. */
void none_came_text(const struct target *t, const char *none, char *out, size_t size);

#endif
