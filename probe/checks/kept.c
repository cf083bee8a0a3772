/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does the peer do the same with a variant of what it does? See kept.h. */
#include "probe/checks/kept.h"

#include <string.h>

#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/question.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

/* By unicast, in the form that the peer takes. */
struct question plain_question(const struct target *t)
{
    return (struct question){.grh = t->peer->needs_grh};
}

/* What it has answered already, when it was found, need not be asked again. */
enum came ask_or_recall(struct target *t, const struct question *q, struct answer *a)
{
    char text[VERDICT_TEXT];
    const struct answer *before = t->peer->by_unicast;
    if (!before || q->multicast || q->grh != t->peer->needs_grh || q->reserved || q->flags ||
        q->qkey || q->ip || q->aside || q->stranger || q->named || q->padding)
        return ask_peer(t, q, TRIES, a);
    question_text(t, q, text, sizeof text);
    results_sent(t->results, "%s", text);
    answer_text(before, text, sizeof text);
    results_came(t->results, "%s", text);
    *a = *before;
    return CAME_ANSWER;
}

static enum kept silence(struct target *t, const struct question *variant, struct answer *a)
{
    /* That the peer is there is asked in another way than the one that is tested. */
    struct question control = plain_question(t);
    if (!variant->multicast &&
        (variant->grh != control.grh || (!variant->reserved && !variant->flags)))
        control = (struct question){.multicast = true};
    /* Nothing is held against a peer that has gone, or a fabric that loses packets. */
    enum came plainly = ask_peer(t, &control, TRIES, a);
    if (plainly != CAME_ANSWER)
        return plainly == NOT_ASKED ? KEPT_UNASKED : KEPT_UNKNOWN;
    enum came again = ask_peer(t, variant, TRIES, a);
    if (again != CAME_NOTHING)
        return again == CAME_ANSWER ? KEPT_YES : KEPT_UNASKED;
    char sent[VERDICT_TEXT];
    g_strlcpy(sent, t->results->sent, sizeof sent);
    bool there = ask_peer(t, &control, TRIES, a) == CAME_ANSWER;
    results_sent(t->results, "%s", sent);
    results_came(t->results, "%s",
                 there ? "no answer to 6 of them; to plain ones between and after, answers"
                       : "no answer to plain ones any more");
    return there ? KEPT_NO : KEPT_UNKNOWN;
}

enum kept try_variant(struct target *t, const struct question *variant, struct answer *a)
{
    struct question alone = *variant;
    alone.alone = true;
    enum came first = ask_or_recall(t, &alone, a);
    enum kept k = first == CAME_ANSWER ? KEPT_YES
                  : first == NOT_ASKED ? KEPT_UNASKED
                                       : silence(t, &alone, a);
    return target_ended(t) ? KEPT_UNKNOWN : k;
}

void tell_answered(struct target *t, enum rule_number rule, enum kept k, const char *passed,
                   const char *failed)
{
    tell_kept(
        t, rule, k,
        &(struct kept_words){"an answer", passed, failed, "the peer no longer answers at all"});
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
                            [KEPT_UNASKED] = t->results->came};
    results_add(t->results, rule, outcomes[k], k == KEPT_YES ? "" : words->expected, actual[k]);
}
