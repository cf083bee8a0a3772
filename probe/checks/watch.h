/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --count and --interval: one plain request after another, and what changes meanwhile. */
#ifndef IPOIB_PROBE_WATCH_H
#define IPOIB_PROBE_WATCH_H

#include "probe/run/target.h"

bool watch_is_wanted(const struct options *o);
/*
 * Sends a request every interval until the count is reached or a signal arrives, prints a line for
 * each and for each change, and adds the stages peer.watch and peer.numbers. Memory is constant.
 */
void watch_run(struct target *t);

#endif
