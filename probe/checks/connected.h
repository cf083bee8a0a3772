/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the checks of connections share. */
#ifndef IPOIB_PROBE_CONNECTED_H
#define IPOIB_PROBE_CONNECTED_H

#include "probe/exchange/connection.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

/* A connection of the mode that the peer announces; RC, if it announces both. */
struct dial plain_dial(const struct target *t);
/* Adds a result; expected is left out of what passed. */
void add_result(struct target *t, enum rule_number rule, enum outcome outcome, const char *expected,
                const char *actual);
/* Does the peer answer a question over UD? */
bool answers_over_ud(struct target *t);

#endif
