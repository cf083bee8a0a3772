/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results that contradict a captured value, which only a packet that was not captured can change.
 */
#ifndef IPOIB_RULES_SUSPICIONS_RESULTS_H
#define IPOIB_RULES_SUSPICIONS_RESULTS_H

#include "rules/suspicions/suspicions.h"

/* The value of the result's first fact was captured in frame `other`. */
void suspect_result(const struct check_context *s, const struct result *r, uint32_t other);

#endif
