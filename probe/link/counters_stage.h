/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stage about the growth of this port's counters. */
#ifndef IPOIB_PROBE_COUNTERS_STAGE_H
#define IPOIB_PROBE_COUNTERS_STAGE_H

#include "probe/link/counters.h"
#include "probe/run/target.h"

/*
 * Reads the counters again and adds the stage: what grew, and whether that is a fault. Adds none if
 * the kernel shows no counters.
 */
void counters_report(struct target *t, const char *id, const struct port_counters *before);

#endif
