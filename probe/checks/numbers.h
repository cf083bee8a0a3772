/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers of a target: requests, losses and response times. */
#ifndef IPOIB_PROBE_NUMBERS_H
#define IPOIB_PROBE_NUMBERS_H

#include "probe/run/target.h"

/* Adds the stage peer.numbers, which numbers_report() completes. */
void numbers_begin(struct target *t);
/* at: the position of the stage */
void numbers_report(struct target *t, unsigned at);

/* Its replies take about the timeout: those that are missing may come later. */
bool numbers_may_be_late(const struct target *t);
/* The median of its replies took more than a tenth of a second. */
bool numbers_is_slow(const struct target *t);

#endif
