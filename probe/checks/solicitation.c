/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks with Neighbor Solicitations from the probe's own address, with its link-layer address in
 * the option of RFC 4391 §9.3. The peer caches them.
 */
#include "probe/checks/checks.h"
#include "probe/checks/variant.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

enum { FLAGS_UNKNOWN = LLADDR_FLAG_RESERVED, PADDING_TRIED = 0x1234 };

static struct request named(const struct target *t)
{
    return (struct request){.grh = t->peer->needs_grh, .named = true};
}

static void report_reply(struct target *t, enum rule_number rule, enum decision k,
                         const struct exchange *x, const char *passed, const char *failed)
{
    variant_report(
        t, rule, k,
        &(struct decision_words){"an NA", passed, failed, "the peer does not reply", x->received});
}

/*
 * The request is sent from the second queue pair but names the first one. A wrong response to the
 * sending QPN arrives at the second queue pair.
 */
static enum decision try_second_qp(struct target *t, struct exchange *x)
{
    struct request q = named(t);
    q.second_qp = true;
    q.alone = true;
    if (!t->link->transport->second_qpn)
        return RULE_UNDECIDED;
    *x = exchange_run(t, &q, TRIES);
    if (x->outcome != RESPONSE_RECEIVED)
        return RULE_UNDECIDED;
    return x->reply.to_qpn == t->link->transport->qpn ? RULE_MET : RULE_VIOLATED;
}

/*
 * RFC 4391 §9.3 defines the padding for the sender and does not say how a receiver handles a wrong
 * one: the behaviour is reported, but not rated.
 */
static void report_padding(struct target *t)
{
    struct request q = named(t);
    q.padding = PADDING_TRIED;
    q.alone = true;
    enum exchange_outcome outcome = exchange_run(t, &q, TRIES).outcome;
    if (outcome != NOT_SENT && !target_ended(t))
        results_stage(t->results, "peer.nd-padding", OUTCOME_NOTED, "",
                      "an NS whose option is padded with 0x%04x is %s", PADDING_TRIED,
                      outcome == RESPONSE_RECEIVED ? "answered" : "not answered");
}

static void check_solicitation(struct target *t)
{
    struct exchange x;
    struct request plain = named(t), flags = named(t);
    flags.flags = FLAGS_UNKNOWN;
    enum decision k = variant_try(t, &plain, &x);
    report_reply(
        t, R_RFC4391_9_1_1_FORMAT, k, &x, "an NS with a link-layer address of 20 bytes is answered",
        "an NS with a link-layer address of 20 bytes in its option is not answered, one without is");
    if (k == RULE_MET) {
        report_reply(t, R_RFC4391_9_1_1_FLAGS_IGNORED, variant_try(t, &flags, &x), &x,
                     "answered with flags 0x3f", "not answered with flags 0x3f");
        report_reply(t, R_RFC4391_9_1_1_TRAFFIC_TO_QPN, try_second_qp(t, &x), &x,
                     "the NA was sent to the QPN of the probe's address",
                     "the NA was sent to the QPN that the NS was sent from");
        report_padding(t);
    }
}

static const struct check checks[] = {
    {.name = "solicitation",
     .stage = "peer.nd-padding",
     .needs = NEEDS_SOURCE | NEEDS_IPV6,
     .run = check_solicitation,
     .sends =
         "NS from the probe's address, by unicast, with its link-layer address: plain, with the unknown flag bits 0x3f, from a "
         "second QP, and with a padding that is not 0",
     .expects = "an NA to the QPN of that address; the reply to the last one is reported",
     RULES(R_RFC4391_9_1_1_FORMAT, R_RFC4391_9_1_1_FLAGS_IGNORED, R_RFC4391_9_1_1_TRAFFIC_TO_QPN)},
};
const struct check_table solicitation_checks = {checks, G_N_ELEMENTS(checks)};
