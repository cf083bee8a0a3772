/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Assigns responses to requests by time. */
#ifndef IPOIB_PROBE_RESPONSE_TIMES_H
#define IPOIB_PROBE_RESPONSE_TIMES_H

#include "probe/exchange/peer.h"
#include "probe/run/target.h"

/* Notes that a request for that address was sent; again: a retry. */
void response_times_sent(struct target *t, bool ipv6, const uint8_t *ip, bool again);
/* Note that a response arrived, or one that matches no pending request. */
void response_times_received(struct target *t);
void response_times_stray(struct target *t);
/*
 * How long to wait after the last try: the timeout, or longer if this peer's responses take longer.
 */
unsigned response_times_wait_ms(const struct target *t);
/*
 * Call before a request: waits until the responses to earlier requests have arrived. alone: waits
 * for at least one second, because a network may duplicate some packets only. Returns false if they
 * keep arriving, so that no response could be assigned.
 */
bool response_times_settle(struct target *t, bool alone);

#endif
