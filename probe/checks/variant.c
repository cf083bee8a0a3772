/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests whether the peer responds to a variant of a request. See variant.h. */
#include "probe/checks/variant.h"

#include <string.h>

#include "probe/exchange/echo_request.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/exchange/receive.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

struct request variant_plain_request(const struct target *t)
{
    return (struct request){.grh = t->peer->needs_grh};
}

struct exchange variant_request_or_cached(struct target *t, const struct request *q)
{
    struct exchange x = {.outcome = RESPONSE_RECEIVED};
    const struct response *before = t->peer->by_unicast;
    if (!before || q->echo || q->multicast || q->grh != t->peer->needs_grh || q->reserved ||
        q->flags || q->qkey || q->ip || q->second_qp || q->other_partition || q->named ||
        q->padding)
        return exchange_run(t, q, TRIES);
    x.reply = *before;
    request_text(t, q, x.sent, sizeof x.sent);
    response_text(before, x.received, sizeof x.received);
    exchange_show(t, &x);
    return x;
}

/*
 * The control request, which shows that the peer still responds. It differs from the tested
 * variant.
 */
static struct request control_of(const struct target *t, const struct request *variant)
{
    struct request control = variant_plain_request(t);
    if (variant->echo)
        control = (struct request){.echo = ECHO_SMALL};
    else if (!variant->multicast &&
             (variant->grh != control.grh || (!variant->reserved && !variant->flags)))
        control = (struct request){.multicast = true};
    return control;
}

/* All packets of the variant may be lost by chance: the more are, the more of them are sent. */
static struct exchange try_again(struct target *t, const struct request *variant, unsigned *sent)
{
    unsigned most = tally_others_lose_most(&t->peer->tally) ? 3 : 1;
    struct exchange x = {.outcome = NO_RESPONSE};
    for (unsigned i = 0; i < most && x.outcome == NO_RESPONSE; i++) {
        x = exchange_run(t, variant, TRIES);
        *sent += TRIES;
    }
    return x;
}

static enum decision assess_no_response(struct target *t, const struct request *variant,
                                        struct exchange *x)
{
    struct request control = control_of(t, variant);
    unsigned sent = TRIES;
    /* No violation is reported if the peer has gone down or the fabric loses packets. */
    struct exchange plainly = exchange_run(t, &control, TRIES);
    if (plainly.outcome != RESPONSE_RECEIVED) {
        *x = plainly;
        return plainly.outcome == NOT_SENT ? RULE_UNTESTED : RULE_UNDECIDED;
    }
    *x = try_again(t, variant, &sent);
    if (x->outcome != NO_RESPONSE)
        return x->outcome == RESPONSE_RECEIVED ? RULE_MET : RULE_UNTESTED;
    const char *unusable = t->unusable;
    bool still_responds = exchange_run(t, &control, TRIES).outcome == RESPONSE_RECEIVED;
    t->unusable = unusable;
    char *none = g_strdup_printf("no reply to %u of them; replies to unchanged requests between "
                                 "and after them",
                                 sent);
    receive_no_response_text(t, still_responds ? none : "no reply to unchanged requests any more",
                             x->received, sizeof x->received);
    g_free(none);
    exchange_show(t, x);
    return still_responds ? RULE_VIOLATED : RULE_UNDECIDED;
}

enum decision variant_try(struct target *t, const struct request *variant, struct exchange *x)
{
    struct request alone = *variant;
    alone.alone = true;
    *x = variant_request_or_cached(t, &alone);
    enum decision k = x->outcome == RESPONSE_RECEIVED ? RULE_MET
                      : x->outcome == NOT_SENT        ? RULE_UNTESTED
                                                      : assess_no_response(t, &alone, x);
    return target_ended(t) ? RULE_UNDECIDED : k;
}

void variant_report_response(struct target *t, enum rule_number rule, enum decision k,
                             const struct exchange *x, const char *passed, const char *failed)
{
    variant_report(t, rule, k,
                   &(struct decision_words){"a reply", passed, failed, "the peer no longer replies",
                                            x->received});
}

void variant_report_no_response(struct target *t, const char *none)
{
    char text[VERDICT_TEXT];
    receive_no_response_text(t, none, text, sizeof text);
    results_received(t->results, "%s", text);
}

bool peer_has_connected_mode(const struct target *t)
{
    return t->peer->lladdr[LLADDR_FLAGS] & (LLADDR_FLAG_RC | LLADDR_FLAG_UC);
}

void variant_report(struct target *t, enum rule_number rule, enum decision k,
                    const struct decision_words *words)
{
    static const enum outcome outcomes[] = {[RULE_MET] = OUTCOME_PASS,
                                            [RULE_VIOLATED] = OUTCOME_FAIL,
                                            [RULE_UNDECIDED] = OUTCOME_INCONCLUSIVE,
                                            [RULE_UNTESTED] = OUTCOME_INCONCLUSIVE};
    const char *actual[] = {[RULE_MET] = words->passed,
                            [RULE_VIOLATED] = words->failed,
                            [RULE_UNDECIDED] = words->undecided,
                            [RULE_UNTESTED] = words->untested};
    results_add(t->results, rule, outcomes[k], k == RULE_MET ? "" : words->expected, actual[k]);
}
