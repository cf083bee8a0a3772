/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The violations of an earlier JSON report (ipoib-check --baseline), which are known. A violation
 * is the same if its rule, its subject and the value found are.
 */
#ifndef IPOIB_REPORT_BASELINE_H
#define IPOIB_REPORT_BASELINE_H

#include <stdbool.h>

#include "rules/check.h"

struct baseline;

/*
 * Reads a report of ipoib-check, a merged one too, within the bounds of --merge
 * (report/merge_read.h). path "-": stdin. NULL: it cannot be read, or has no capture; *why says so
 * (g_free).
 */
struct baseline *baseline_open(const char *path, const char *version, char **why);
void baseline_free(struct baseline *b);

/* Does the baseline have this failure? b NULL: no. */
bool baseline_has(const struct baseline *b, const struct finding *f);

/* How many rules have further cases that the report counts and does not name. */
unsigned baseline_incomplete_rules(const struct baseline *b);

#endif
