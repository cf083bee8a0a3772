/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Violations that rest on what a port did not ask of the SA: "it left the group, and did not join
 * again". Whether a request was not captured shows only at the next packet of the port's GSI, by
 * its PSN (model/endport.h). Until then the result is inconclusive; the violation is reported at
 * that packet if none is missing, and never if one is, or if no such packet comes.
 */
#ifndef IPOIB_RULES_POSTPONE_H
#define IPOIB_RULES_POSTPONE_H

#include "rules/scene.h"

struct postponed *postponed_new(void);
void postponed_free(struct postponed *p);

/*
 * The packet at hand violates the rule, unless a request of the sender was not captured. Reported
 * as once for each value of the subject; expected gets the number of this frame appended.
 */
void postpone(const struct scene *s, const struct endport *sender, enum rule_number rule,
              const struct subject *about, uint64_t value, const char *expected,
              const char *actual);

/* The packet at hand is of the port's GSI. whole: none that it sent before is missing. */
void postponed_settle(const struct scene *s, const struct endport *port, bool whole);

#endif
