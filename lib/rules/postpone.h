/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Violations that rest on what a port did not ask of the SA: "it left the group, and did not join
 * again", "it was not told another Q_Key". Whether a request was not captured shows only at the
 * next packet of the port's GSI, by its PSN (model/endport.h). Until then the result is
 * inconclusive; the violation is reported at that packet if none is missing, and never if one is,
 * or if no such packet comes.
 */
#ifndef IPOIB_RULES_POSTPONE_H
#define IPOIB_RULES_POSTPONE_H

#include "rules/scene.h"

struct postponed *postponed_new(void);
void postponed_free(struct postponed *p);

/*
 * The packet at hand violates the rule, unless a request of the port was not captured. Reported
 * as once for each value of the subject; expected gets the number of this frame appended.
 */
void postpone(const struct scene *s, struct endport *port, enum rule_number rule,
              const struct subject *about, uint64_t value, const char *expected,
              const char *actual);

/*
 * The same for the SA's own port, whose requests never reach the wire: a change of the group's
 * parameters shows in a request of another member, which joins again. The port that received the
 * group's last record is the witness: the violation is reported at its next GSI packet, unless it
 * asks for the group then, whose answer decides.
 */
void postpone_to_witness(const struct scene *s, struct group *group, enum rule_number rule,
                         const struct subject *about, uint64_t value, const char *expected,
                         const char *actual);

/*
 * The same, unless the subnet manager set something that was not captured: the port's response has
 * a PSN of its SMI.
 */
void postpone_to_smi(const struct scene *s, struct endport *port, enum rule_number rule,
                     const struct subject *about, uint64_t value, const char *expected,
                     const char *actual);

/* The packet at hand is of the port's GSI. whole: none that it sent before is missing. */
void postponed_settle(const struct scene *s, const struct endport *port, bool whole);
/* Likewise of its SMI. */
void postponed_settle_smi(const struct scene *s, const struct endport *port, bool whole);

#endif
