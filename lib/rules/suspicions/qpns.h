/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the QPN that a packet has for an interface with the one in the link-layer address that
 * the interface's port announced (RFC 4391 §9.1.1, RFC 4755 §3.2 and 3.5).
 */
#ifndef IPOIB_RULES_QPNS_H
#define IPOIB_RULES_QPNS_H

#include "rules/result.h"

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
