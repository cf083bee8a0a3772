/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Claims: violations that wait for proof. Such a violation rests on the absence of a packet, such
 * as "the port left the group and did not join again". A later packet shows whether the capture
 * lacks one: its PSN follows that of the sender's packet before (model/sequence.h). The result is
 * inconclusive at first. The violation is reported at the later packet if no packet is missing. If
 * one may be missing, or no such packet follows, the result is OUTCOME_UNPROVED. Nothing more is
 * reported if a packet explains the claim. A claim is reported once for each value of its entity.
 */
#ifndef IPOIB_RULES_CLAIM_H
#define IPOIB_RULES_CLAIM_H

#include "rules/result.h"

/* At most 256 claims wait; further ones are refused and counted in `undone`. */
struct claims *claims_new(struct undone *undone);
void claims_free(struct claims *c);

/*
 * The current packet violates the result's rule, unless a packet explains it: `when` says which
 * packet decides (enum certain_when). The number of the current frame is appended to expected.
 */
void claims_add(const struct check_context *s, const struct result *r, const struct certainty *when,
                const char *expected, const char *actual);

/* The current packet is a datagram of an IPoIB interface's UD QP. */
void claims_decide_requester(const struct check_context *s);
/* The current packet comes from the port's GSI or SMI. whole: no earlier packet of it is missing.
 */
void claims_decide_port(const struct check_context *s, const struct endport *port, bool whole);
/* The current packet comes from the SA's GSI. Call before claims_decide_port() for the GSI. */
void claims_decide_sa(const struct check_context *s);
/* The current packet is a copy (model/copies.h). */
void claims_decide_copy(const struct check_context *s);
/*
 * Claims that a packet proved are held for a second: a copy of the claim's packet that comes later
 * than two packets may be swapped, or copies that all come so late, show that two capture points
 * with different clocks were merged (model/order.h). Then the order of the claim's packet and of
 * the others proves nothing, and the claim is OUTCOME_UNPROVED.
 */
void claims_hold(struct claims *c);
bool claims_are_held(const struct claims *c);
/* The next packet comes: reports those that stand, or were held without reason. */
void claims_settle(const struct check_context *s);
/*
 * The capture ends here: reports what still waits, as OUTCOME_UNPROVED, once. It goes on
 * waiting: in a live capture, later packets may still decide it. The context has no packet.
 */
void claims_report_waiting(const struct check_context *s);

#endif
