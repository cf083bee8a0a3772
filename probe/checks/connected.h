/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Helpers for the checks of connections. */
#ifndef IPOIB_PROBE_CONNECTED_H
#define IPOIB_PROBE_CONNECTED_H

#include "probe/exchange/connection.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

/* A connection in a mode that the peer announces; RC if it announces both. */
struct connect_options connected_default_options(const struct target *t);
/* Adds a result. A pass is added without the expected text. */
void connected_add_result(struct target *t, enum rule_number rule, enum outcome outcome,
                          const char *expected, const char *actual);
/* True if the peer responds to a request over UD. */
bool connected_try_ud(struct target *t);

/*
 * Sends an ARP request or NS over a new connection and counts what became of it (peer.h). response:
 * what the REQ got, or why the message could not be sent.
 */
void connected_try_message(struct target *t, char response[VERDICT_TEXT]);
/*
 * True if connections to the peer do not work: REQs got neither REP nor REJ, or a REJ, or messages
 * are not acknowledged; why has the reason. A connection is made if there was none yet. False: they
 * work, or this cannot be tried.
 */
bool connected_is_broken(struct target *t, char why[VERDICT_TEXT]);

#endif
