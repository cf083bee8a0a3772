/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests whether the peer responds to a variant of a request as it does to the plain one. */
#ifndef IPOIB_PROBE_KEPT_H
#define IPOIB_PROBE_KEPT_H

#include "probe/checks/checks.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/question.h"
#include "probe/run/target.h"

/* A unicast request in the form that the peer accepts. */
struct question plain_question(const struct target *t);
/*
 * Sends the request, or recalls the response if the peer has already answered the same request when
 * it was found.
 */
struct exchange ask_or_recall(struct target *t, const struct question *q);

/*
 * Tests whether the peer responds to a variant of a request. YES: it does. NO: it responds to the
 * plain request before and after, but not to the variant. UNKNOWN: it no longer responds to either,
 * or the run ends (inconclusive). UNASKED: the request could not be sent (inconclusive).
 */
enum kept { KEPT_YES, KEPT_NO, KEPT_UNKNOWN, KEPT_UNASKED };
enum kept try_variant(struct target *t, const struct question *variant, struct exchange *x);

/*
 * Adds the result for a rule. failed: text for a failure; unknown: why it cannot be decided;
 * unasked: why the request could not be sent.
 */
struct kept_words {
    const char *expected, *passed, *failed, *unknown, *unasked;
};
void tell_kept(struct target *t, enum rule_number rule, enum kept k,
               const struct kept_words *words);
/* The same for the response to a request for an address. */
void tell_answered(struct target *t, enum rule_number rule, enum kept k, const struct exchange *x,
                   const char *passed, const char *failed);

/*
 * Notes that no response arrived (such as "no echo reply"), or that one arrived that a host would
 * drop.
 */
void tell_none_came(struct target *t, const char *none);

/* True if the peer's link-layer address announces connected mode (RFC 4755 §3.1). */
bool has_connected_mode(const struct target *t);

#endif
