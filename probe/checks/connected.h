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

#endif
