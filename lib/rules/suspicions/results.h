/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results that contradict a captured value, which only a packet that was not captured can change.
 */
#ifndef IPOIB_RULES_SUSPICIONS_RESULTS_H
#define IPOIB_RULES_SUSPICIONS_RESULTS_H

#include "rules/suspicions/suspicions.h"

/*
 * The value of the result's first fact was captured in frame `other`. is_claim: the result is a
 * claim. Returns true if the suspicion waits for the end of the capture.
 */
bool suspect_result(const struct check_context *s, const struct result *r, uint32_t other,
                    bool is_claim);

/*
 * The QPN r->value of the current packet contradicts the announced one, which is the result's first
 * fact: FACT_NEIGHBOUR or FACT_UD_QPNS.
 */
bool suspect_qpn(const struct check_context *s, const struct result *r, bool is_claim);

/*
 * An ARP reply has this link-layer address of its target, whose request was not captured. The QPN
 * contradicts the one that the target's port announced, if it did: the target address of a reply is
 * a copy of the request's (RFC 826). Returns false if it does not.
 */
bool suspect_target(const struct check_context *s, const uint8_t *lladdr);

/*
 * The IPoIB address that the port announced last on the partition, if the IP source of the current
 * datagram has no known owner; NULL: none.
 */
const struct neighbour *suspected_holder(const struct check_context *s, const struct endport *port);

/*
 * The interface of the result's fact (FACT_NEIGHBOUR) sent from this IP source (ip_digest()) before
 * the current datagram, from the QPN r->wanted, and goes on with it.
 */
void suspect_source(const struct check_context *s, const struct result *r, uint32_t source);

#endif
