/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hosts of an earlier JSON report, with which a sweep is compared (--baseline). */
#ifndef IPOIB_PROBE_SWEEP_BASELINE_H
#define IPOIB_PROBE_SWEEP_BASELINE_H

#include "probe/run/options.h"
#include "report/swept.h"

struct sweep_baseline;

/*
 * Reads a report of --format json with the hosts of a sweep. Returns NULL and sets ERROR, whose
 * message names the file, if it cannot be read or has no sweep.
 */
struct sweep_baseline *sweep_baseline_open(const char *path, GError **error);
void sweep_baseline_free(struct sweep_baseline *b);

/* The host of the report with that address; NULL: none. */
const struct swept_host *sweep_baseline_host(const struct sweep_baseline *b, const char *address);

/* Adds to S what differs in the addresses of the target. complete: all were looked at. */
void sweep_baseline_compare(const struct sweep_baseline *b, struct swept *s,
                            const struct target_option *t, bool complete);

#endif
