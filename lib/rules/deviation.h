/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Known deviations: what an implementation is known to do otherwise than the documents demand.
 * Data, not code: a key file with one group a deviation. The group's name is a rule's identifier;
 * words after a space tell groups of one rule apart.
 *
 *     [rfc4755.3.5.service-id]
 *     implementation=Linux              which implementation does it; a name without a colon
 *     actual=0x1000000000??????         pattern (* and ?) of the value found; absent: any
 *     expected=*                        pattern of the value demanded; absent: any
 *     message=RS                        the message it is in, for Neighbour Discovery: RS, RA, NS,
 *                                       NA, Redirect; absent: any
 *     reason=the Service-ID begins ...  one sentence, shown with each finding
 *     source=ib_ipoib, Linux 6.1        where it is known from
 *
 * The patterns name what only this implementation shows: another one that breaks the same rule
 * otherwise violates it.
 */
#ifndef IPOIB_RULES_DEVIATION_H
#define IPOIB_RULES_DEVIATION_H

#include <glib.h>

#include "rules/rules.h"

struct deviations;

/*
 * A named list ("linux", the default of all tools; "none": an empty one), or the key file at that
 * path where the name holds a '/' or no list has it. NULL with error set: no such list or file, or
 * a fault in it (the line, an identifier that is no rule, an unknown key).
 */
struct deviations *deviations_open(const char *name, GError **error);
void deviations_free(struct deviations *d);

/* A failure, as a list may know it. Texts, "" for what is unknown. */
struct failure {
    enum rule_number rule;
    const char *expected, *actual;
    const char *message; /* as the key "message" has it */
};

/*
 * Why the failure is known: "known deviation of Linux: ...", or the reason alone where its group
 * names no implementation; NULL: it is not. d may be NULL.
 */
const char *deviations_reason(const struct deviations *d, const struct failure *failure);

/* The implementation that such a reason names; NULL: none. g_free */
char *deviation_implementation(const char *reason);

#endif
