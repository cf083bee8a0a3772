/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SA's response times. */
#ifndef IPOIB_PROBE_SA_TIMES_H
#define IPOIB_PROBE_SA_TIMES_H

#include "probe/run/target.h"

/*
 * Adds a stage, noted, with the response times, and keeps them for the reports for programs. Does
 * nothing if the SA was not queried.
 */
void sa_times_report(struct target *t, const char *stage);

#endif
