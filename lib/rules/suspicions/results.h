/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results that contradict a captured value, which only a packet that was not captured can change.
 */
#ifndef IPOIB_RULES_SUSPICIONS_RESULTS_H
#define IPOIB_RULES_SUSPICIONS_RESULTS_H

#include "rules/suspicions/suspicions.h"

/* The value of the result's first fact was captured in frame `other`. */
void suspect_result(const struct check_context *s, const struct result *r, uint32_t other);

/*
 * The QPN r->value of the current packet contradicts the announced one, which is the result's first
 * fact: FACT_NEIGHBOUR or FACT_UD_QPNS.
 */
void suspect_qpn(const struct check_context *s, const struct result *r);

/*
 * An ARP reply has this link-layer address of its target, whose request was not captured. The QPN
 * contradicts the one that the target's port announced, if it did: the target address of a reply is
 * a copy of the request's (RFC 826). Returns false if it does not.
 */
bool suspect_target(const struct check_context *s, const uint8_t *lladdr);

#endif
