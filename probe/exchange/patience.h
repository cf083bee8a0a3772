/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which question an answer is to. */
#ifndef IPOIB_PROBE_PATIENCE_H
#define IPOIB_PROBE_PATIENCE_H

#include "probe/exchange/peer.h"
#include "probe/run/target.h"

/* A question for that address goes out; again: it is not its first try. */
void patience_asks(struct target *t, bool ipv6, const uint8_t *ip, bool again);
/* An answer came; and one that nobody waited for. */
void patience_hears(struct target *t);
void patience_hears_stray(struct target *t);
/* How long the last try is worth waiting for: the timeout, or what this peer takes. */
unsigned patience_ms(const struct target *t);
/*
 * Before a question: waits until the answers to those before are in. alone: for a second at least,
 * for a network may double one packet and not the others. False: they do not end, and no answer
 * could be told apart.
 */
bool patience_settle(struct target *t, bool alone);

#endif
