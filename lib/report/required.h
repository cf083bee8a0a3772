/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules that the user requires to be judged (ipoib-check --require). A selector that is an
 * identifier requires this rule; one that is the beginning of identifiers requires any of theirs.
 * Only rules of level MUST and SHOULD that a capture can show are judged at all.
 */
#ifndef IPOIB_REPORT_REQUIRED_H
#define IPOIB_REPORT_REQUIRED_H

#include "report/report.h"

/* What became of a selector. */
struct required {
    const char *selector;
    char *why; /* it was not judged in any capture; NULL: it was */
};

/* Can a rule of the selection be judged that the selector requires? selection NULL: all rules. */
bool required_is_possible(const char *selector, const struct selection *selection);

/*
 * The selectors (n of them, GPtrArray of const char *) in the captures of the report; array of
 * struct required, g_array_unref frees all.
 */
GArray *required_find(const struct report *r, const GPtrArray *selectors);

/* How many of them were not judged. required NULL: none. */
unsigned required_missing(const GArray *required);

#endif
