/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets, sent at the rate that was asked for, and received. */
#ifndef IPOIB_PROBE_TRAFFIC_H
#define IPOIB_PROBE_TRAFFIC_H

#include "probe/peer.h"

/* Microseconds until the rate allows the next packet. */
gint64 rate_wait(const struct run *r);
/* One more that the rate counts. */
void rate_take(struct run *r);
/* A packet to one port or to a group, at the rate that was asked for. False: stopped or broken. */
bool send_unicast(struct target *t, const struct ud_to *to, const uint8_t *octets, uint32_t n);
bool send_group(struct target *t, const struct mc_group *g, const uint8_t *octets, uint32_t n);
/* A message over a connection, likewise. False: stopped, or nothing goes over it any more. */
bool send_message(struct target *t, struct call *c, const uint8_t *octets, uint32_t n);
/* To the peer as it answered; grh: with a Global Route Header. */
struct ud_to to_peer(const struct target *t, bool grh);

/*
 * Receives until a match, for ms milliseconds; answers ARP and NS for the probe's own address
 * meanwhile.
 */
bool await_packet(struct target *t, int ms, packet_match *match, void *user);
/* The IP address that an ARP message or an NA announces; NULL: none. */
const uint8_t *announced(struct view v, bool *ipv6);
/*
 * Is it one that a host takes? It was waited for in all else; false: why is kept in t->unusable.
 * wrong: why it is not, as far as the caller knows; NULL.
 */
bool is_usable(struct target *t, const struct ud_from *from, const char *wrong);
/* What came: "no echo reply", and of what a host would drop that it came. */
void tell_none_came(struct target *t, const char *none);
/* Notes that it came, answers it if it asks for the probe's address. */
void take_packet(struct target *t, const struct ud_from *from, bool of_peer);

#endif
