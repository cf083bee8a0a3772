/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Baseline: the known violations from an earlier JSON report (ipoib-check --baseline). A violation
 * is known if the report has one with the same rule, entity and observed number, or without a
 * number the same text of the actual value. A suspicion is known if the report has such a violation
 * or suspicion; a violation is not known from a suspicion.
 */
#ifndef IPOIB_REPORT_BASELINE_H
#define IPOIB_REPORT_BASELINE_H

#include <glib.h>
#include <stdbool.h>

#include "rules/check.h"

struct baseline;

/*
 * Reads a report of ipoib-check, single or merged, within the limits of --merge
 * (report/merge_read.h). path "-": stdin. Returns NULL and sets ERROR, whose message does not name
 * the file, if the report cannot be read or has no capture.
 */
struct baseline *baseline_open(const char *path, const char *version, GError **error);
void baseline_free(struct baseline *b);

/* The reason of a finding that is known from the baseline. */
extern const char baseline_known[], baseline_suspected[];

/* Is the failure or suspicion in the baseline? b NULL: no. */
bool baseline_has(const struct baseline *b, const struct finding *f);

/* Number of rules of which the report counts further cases without listing them. */
unsigned baseline_incomplete_rules(const struct baseline *b);

#endif
