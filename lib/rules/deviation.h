/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Known deviations: what an implementation is known to do otherwise than the documents demand.
 * Data, not code: a key file with one group a deviation,
 *
 *     [rfc4755.3.5.service-id]            a rule's identifier; words behind a space tell groups of
 * one rule apart actual=0x1000000000*                pattern (* and ?) that what is seen must
 * match; absent: all reason=Linux begins ...             one sentence, shown with each finding
 *     source=ib_ipoib, Linux 6.1          where it is known from
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

/* Why a failure of the rule with this actual text is known; NULL: it is not. d may be NULL. */
const char *deviations_reason(const struct deviations *d, enum rule_number rule,
                              const char *actual);

#endif
