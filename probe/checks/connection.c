/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of connection setup and rejection (RFC 4755 §3.2 to 3.5, 6). */
#include <stdio.h>
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/checks/connected.h"
#include "probe/checks/kept.h"
#include "probe/exchange/connection.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/question.h"
#include "probe/exchange/receive.h"
#include "probe/link/transport.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

enum { REASON_TRANSPORT_TYPE = 9 };

/* No violation is reported if the peer's interface has just gone down. */
static bool still_answers(struct target *t)
{
    const struct question q = {.grh = t->peer->needs_grh, .alone = true};
    return exchange_run(t, &q, TRIES).outcome == CAME_ANSWER;
}

static void judge_service_id(struct target *t, const struct call *c, const char *came)
{
    const enum rule_number rule = R_RFC4755_3_5_SERVICE_ID;
    char expected[80], actual[40];
    snprintf(expected, sizeof expected, "connections are taken by 0x%016llx",
             (unsigned long long)service_id(t, FORM_RFC));
    snprintf(actual, sizeof actual, "0x%016llx", (unsigned long long)service_id(t, FORM_LINUX));
    if (!c)
        add_result(t, rule, OUTCOME_INCONCLUSIVE, expected, came);
    else if (t->peer->form == FORM_RFC)
        add_result(t, rule, is_up(c) ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE, expected,
                   is_up(c) ? "the RFC's Service-ID is taken" : came);
    else if (t->peer->form == FORM_LINUX)
        add_result(t, rule, OUTCOME_FAIL, expected, actual);
    else if (still_answers(t))
        add_result(t, rule, OUTCOME_FAIL, expected,
                   "connected mode is announced, and no Service-ID of it is known there");
    else
        add_result(t, rule, OUTCOME_INCONCLUSIVE, expected, "the peer no longer answers at all");
}

/*
 * The REP's private data is checked when it arrives. Without a REP, these rules are inconclusive.
 */
static void judge_no_rep(struct target *t, const struct call *c, const char *came)
{
    static const enum rule_number of_rep[] = {R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA,
                                              R_RFC4755_6_PRIVATE_DATA, R_RFC4755_6_RESERVED_ZERO};
    for (size_t i = 0; i < G_N_ELEMENTS(of_rep) && !is_up(c); i++)
        add_result(t, of_rep[i], OUTCOME_INCONCLUSIVE, "a REP", came);
}

/*
 * Tests whether the peer responds over UD while a connection is up. If not, a request without a
 * connection shows whether the peer responds at all. Afterwards *c is a new connection.
 */
static enum kept answers_meanwhile(struct target *t, struct call **c)
{
    char came[VERDICT_TEXT];
    const struct dial d = plain_dial(t);
    if (answers_over_ud(t))
        return KEPT_YES;
    for (unsigned i = 0; i < 2; i++) {
        hang_up(t, *c);
        *c = NULL;
        if (!answers_over_ud(t))
            return KEPT_UNKNOWN;
        *c = dial(t, &d, came);
        if (!is_up(*c))
            return KEPT_UNKNOWN;
        if (answers_over_ud(t))
            return KEPT_YES;
    }
    return KEPT_NO;
}

static void check_connection(struct target *t)
{
    char came[VERDICT_TEXT];
    struct dial d = plain_dial(t);
    /* Send the REQs for both forms in this check, even if an earlier check has found the form. */
    t->peer->form = FORM_UNKNOWN;
    struct call *c = dial(t, &d, came);
    judge_service_id(t, c, came);
    judge_no_rep(t, c, came);
    if (is_up(c))
        tell_kept(t, R_RFC4755_2_RFC4391_SUPPORTED, answers_meanwhile(t, &c),
                  &(struct kept_words){
                      "an answer", "it answers over UD while a connection stands",
                      "no answer over UD while a connection stands, and answers without one",
                      "the peer no longer answers at all", NULL});
    hang_up(t, c);
}

/* RFC 4755 §3.2 leaves the choice to the peer: its behaviour is reported, but not rated. */
static void check_connection_second(struct target *t)
{
    char text[VERDICT_TEXT];
    struct dial d = plain_dial(t);
    struct call *first = dial(t, &d, text), *second = is_up(first) ? dial(t, &d, text) : NULL;
    bool told = is_up(first) && second;
    add_result(t, R_RFC4755_3_2_FURTHER_REQ, told ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE,
               "an answer", text);
    if (is_up(first)) {
        t->peer->cm_silent = false; /* only the second REQ got no response */
        results_stage(t->results, "peer.second-connection", OUTCOME_NOTED, "",
                      "a second REQ while a connection stands: %s", text);
    }
    hang_up(t, second);
    hang_up(t, first);
}

static void judge_announced(struct target *t, const struct call *c, const char *came)
{
    bool never = c && c->result == CALL_REFUSED && c->reason == REASON_TRANSPORT_TYPE;
    if (is_up(c))
        add_result(t, R_RFC4755_3_1_FLAGS, OUTCOME_PASS, "",
                   "it takes connections of the mode that it announces");
    else
        add_result(t, R_RFC4755_7_ANY_MODE_ACCEPTED, never ? OUTCOME_FAIL : OUTCOME_INCONCLUSIVE,
                   "a connection of the mode that is announced", came);
}

static void judge_unannounced(struct target *t, const struct call *c, const char *came)
{
    bool refused = c && c->result == CALL_REFUSED;
    add_result(t, R_RFC4755_3_1_FLAGS, refused ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE,
               "REJ: the mode is not announced", came);
}

/*
 * A mode that the peer does not announce is tried only with --disruptive: Linux then logs a
 * warning.
 */
static void check_connection_modes(struct target *t)
{
    for (unsigned uc = 0; uc <= 1 && !target_ended(t); uc++) {
        bool announced = announces(t, uc);
        if (!announced && !t->run->options->disruptive)
            continue;
        char came[VERDICT_TEXT];
        struct call *c = dial(t, &(struct dial){.uc = uc}, came);
        if (announced)
            judge_announced(t, c, came);
        else
            judge_unannounced(t, c, came);
        hang_up(t, c);
    }
}

static const struct check checks[] = {
    {.name = "connection",
     .needs = NEEDS_CONNECTIONS,
     .run = check_connection,
     .sends =
         "CM REQ with the RFC's Service-ID; if it is unknown there, with Linux's (0x10...). Then DREQ, as behind each of these",
     .expects =
         "a REP with the peer's UD QPN, its Receive MTU and Reserved 0; it answers over UD meanwhile",
     RULES(R_RFC4755_3_5_SERVICE_ID, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, R_RFC4755_6_PRIVATE_DATA,
           R_RFC4755_6_RESERVED_ZERO, R_RFC4755_2_RFC4391_SUPPORTED)},
    {.name = "connection-second",
     .needs = NEEDS_CONNECTIONS,
     .run = check_connection_second,
     .sends = "a second REQ while a connection stands",
     .expects = "any answer: it is told, not judged",
     RULES(R_RFC4755_3_2_FURTHER_REQ)},
    {.name = "connection-modes",
     .needs = NEEDS_CONNECTIONS,
     .run = check_connection_modes,
     .sends = "REQ for each mode that the peer announces; with --disruptive for the other too",
     .expects = "a REP, and a REJ",
     RULES(R_RFC4755_3_1_FLAGS, R_RFC4755_7_ANY_MODE_ACCEPTED)},
};
const struct check_table connection_checks = {checks, G_N_ELEMENTS(checks)};
