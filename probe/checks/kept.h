/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does the peer do the same with a variant of what it does? */
#ifndef IPOIB_PROBE_KEPT_H
#define IPOIB_PROBE_KEPT_H

#include "probe/checks/checks.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/question.h"
#include "probe/run/target.h"

/* A question by unicast, in the form that the peer takes. */
struct question plain_question(const struct target *t);
/* What the peer answered when it was found need not be asked again. */
struct exchange ask_or_recall(struct target *t, const struct question *q);

/*
 * Does the peer answer the variant of a question? YES; NO: it answers the plain question, before
 * and after, and not this; UNKNOWN: it answers neither any longer (inconclusive), or the run ends;
 * UNASKED: it could not be sent (the same).
 */
enum kept { KEPT_YES, KEPT_NO, KEPT_UNKNOWN, KEPT_UNASKED };
enum kept try_variant(struct target *t, const struct question *variant, struct exchange *x);

/*
 * What that says of a rule; failed: what is found then; unknown: why it cannot be decided; unasked:
 * why it could not be sent.
 */
struct kept_words {
    const char *expected, *passed, *failed, *unknown, *unasked;
};
void tell_kept(struct target *t, enum rule_number rule, enum kept k,
               const struct kept_words *words);
/* The same of an answer to a question. */
void tell_answered(struct target *t, enum rule_number rule, enum kept k, const struct exchange *x,
                   const char *passed, const char *failed);

/* Shows that none came ("no echo reply"), or that one came that a host would drop. */
void tell_none_came(struct target *t, const char *none);

/* Does the peer's address say that it takes connections (RFC 4755 §3.1)? */
bool has_connected_mode(const struct target *t);

#endif
