/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules that the user requires to be decided, not inconclusive (ipoib-check --require). A selector
 * that is an identifier requires this rule; a selector that is a prefix of identifiers requires at
 * least one of these rules. Only rules of level MUST and SHOULD that a capture can show qualify.
 */
#ifndef IPOIB_REPORT_REQUIRED_H
#define IPOIB_REPORT_REQUIRED_H

#include "report/report.h"

/* The result for one selector. */
struct required {
    const char *selector;
    char *why; /* why it was not decided in any capture; NULL: it was */
};

/* Can any rule of the selection satisfy the selector? selection NULL: all rules. */
bool required_is_possible(const char *selector, const struct rule_selection *selection);

/*
 * Evaluates the selectors (GPtrArray of const char *) on the captures of the report. Returns an
 * array of struct required; g_array_unref() frees everything.
 */
GArray *required_find(const struct report *r, const GPtrArray *selectors);

/* Number of selectors that were not satisfied. required NULL: 0. */
unsigned required_missing(const GArray *required);

#endif
