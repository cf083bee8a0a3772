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

#endif
