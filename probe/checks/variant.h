/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests whether the peer responds to a variant of a request as it does to the plain one. */
#ifndef IPOIB_PROBE_VARIANT_H
#define IPOIB_PROBE_VARIANT_H

#include "probe/checks/checks.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/request.h"
#include "probe/run/target.h"

/* A unicast request in the form that the peer accepts. */
struct request variant_plain_request(const struct target *t);
/*
 * Sends the request, or returns the response from the peer's discovery if it was to the same
 * request.
 */
struct exchange variant_request_or_cached(struct target *t, const struct request *q);

/*
 * RULE_MET: the peer responds to the variant. RULE_VIOLATED: it does not, but it responds to the
 * control requests that are sent between and after the tries. RULE_UNDECIDED: it responds to no
 * control request either, or the run ended. RULE_UNTESTED: a request could not be sent.
 */
enum decision { RULE_MET, RULE_VIOLATED, RULE_UNDECIDED, RULE_UNTESTED };
/* Tests whether the peer responds to a variant of a request. */
enum decision variant_try(struct target *t, const struct request *variant, struct exchange *x);

/*
 * Adds the result for a rule; the last two decisions are inconclusive. failed: text for a failure;
 * undecided: why it cannot be decided; untested: why the request could not be sent.
 */
struct decision_words {
    const char *expected, *passed, *failed, *undecided, *untested;
};
void variant_report(struct target *t, enum rule_number rule, enum decision k,
                    const struct decision_words *words);
/* The same for the response to a request for an address. */
void variant_report_response(struct target *t, enum rule_number rule, enum decision k,
                             const struct exchange *x, const char *passed, const char *failed);

/*
 * Notes that no response arrived (such as "no echo reply"), or that one arrived that a host would
 * drop.
 */
void variant_report_no_response(struct target *t, const char *none);

/* True if the peer's link-layer address announces connected mode (RFC 4755 §3.1). */
bool peer_has_connected_mode(const struct target *t);

#endif
