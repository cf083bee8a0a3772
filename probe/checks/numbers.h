/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers of a target: requests, losses and response times. */
#ifndef IPOIB_PROBE_NUMBERS_H
#define IPOIB_PROBE_NUMBERS_H

#include "probe/run/target.h"

/* Adds the stage peer.numbers, which numbers_report() completes. */
void numbers_begin(struct target *t);
/* at: the position of the stage */
void numbers_report(struct target *t, unsigned at);

/* Keeps the SA's response times for the reports for programs. */
void numbers_keep_sa(struct target *t);
/* "the SA: 12 answers in 0.20/0.31/0.90 ms"; NULL: it was not queried. */
char *numbers_sa_text(const struct target *t);

#endif
