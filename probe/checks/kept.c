/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests whether the peer responds to a variant of a request. See kept.h. */
#include "probe/checks/kept.h"

#include <string.h>

#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/question.h"
#include "probe/exchange/receive.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

struct question plain_question(const struct target *t)
{
    return (struct question){.grh = t->peer->needs_grh};
}

struct exchange ask_or_recall(struct target *t, const struct question *q)
{
    struct exchange x = {.outcome = CAME_ANSWER};
    const struct answer *before = t->peer->by_unicast;
    if (!before || q->multicast || q->grh != t->peer->needs_grh || q->reserved || q->flags ||
        q->qkey || q->ip || q->aside || q->stranger || q->named || q->padding)
        return exchange_run(t, q, TRIES);
    x.reply = *before;
    question_text(t, q, x.sent, sizeof x.sent);
    answer_text(before, x.came, sizeof x.came);
    exchange_show(t, &x);
    return x;
}

/*
 * The control request, which shows that the peer still responds. It differs from the tested
 * variant.
 */
static struct question control_of(const struct target *t, const struct question *variant)
{
    struct question control = plain_question(t);
    if (!variant->multicast &&
        (variant->grh != control.grh || (!variant->reserved && !variant->flags)))
        control = (struct question){.multicast = true};
    return control;
}

static enum kept silence(struct target *t, const struct question *variant, struct exchange *x)
{
    struct question control = control_of(t, variant);
    /* No violation is reported if the peer has gone down or the fabric loses packets. */
    struct exchange plainly = exchange_run(t, &control, TRIES);
    if (plainly.outcome != CAME_ANSWER) {
        *x = plainly;
        return plainly.outcome == NOT_ASKED ? KEPT_UNASKED : KEPT_UNKNOWN;
    }
    *x = exchange_run(t, variant, TRIES);
    if (x->outcome != CAME_NOTHING)
        return x->outcome == CAME_ANSWER ? KEPT_YES : KEPT_UNASKED;
    bool there = exchange_run(t, &control, TRIES).outcome == CAME_ANSWER;
    g_strlcpy(x->came,
              there ? "no answer to 6 of them; to plain ones between and after, answers"
                    : "no answer to plain ones any more",
              sizeof x->came);
    exchange_show(t, x);
    return there ? KEPT_NO : KEPT_UNKNOWN;
}

enum kept try_variant(struct target *t, const struct question *variant, struct exchange *x)
{
    struct question alone = *variant;
    alone.alone = true;
    *x = ask_or_recall(t, &alone);
    enum kept k = x->outcome == CAME_ANSWER ? KEPT_YES
                  : x->outcome == NOT_ASKED ? KEPT_UNASKED
                                            : silence(t, &alone, x);
    return target_ended(t) ? KEPT_UNKNOWN : k;
}

void tell_answered(struct target *t, enum rule_number rule, enum kept k, const struct exchange *x,
                   const char *passed, const char *failed)
{
    tell_kept(t, rule, k,
              &(struct kept_words){"an answer", passed, failed, "the peer no longer answers at all",
                                   x->came});
}

void tell_none_came(struct target *t, const char *none)
{
    char text[VERDICT_TEXT];
    none_came_text(t, none, text, sizeof text);
    results_came(t->results, "%s", text);
}

bool has_connected_mode(const struct target *t)
{
    return t->peer->lladdr[LLADDR_FLAGS] & (LLADDR_FLAG_RC | LLADDR_FLAG_UC);
}

void tell_kept(struct target *t, enum rule_number rule, enum kept k, const struct kept_words *words)
{
    static const enum outcome outcomes[] = {[KEPT_YES] = OUTCOME_PASS,
                                            [KEPT_NO] = OUTCOME_FAIL,
                                            [KEPT_UNKNOWN] = OUTCOME_INCONCLUSIVE,
                                            [KEPT_UNASKED] = OUTCOME_INCONCLUSIVE};
    const char *actual[] = {[KEPT_YES] = words->passed,
                            [KEPT_NO] = words->failed,
                            [KEPT_UNKNOWN] = words->unknown,
                            [KEPT_UNASKED] = words->unasked};
    results_add(t->results, rule, outcomes[k], k == KEPT_YES ? "" : words->expected, actual[k]);
}
