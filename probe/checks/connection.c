/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of connection setup and rejection (RFC 4755 §3.2 to 3.5, 6). */
#include <stdio.h>
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/checks/connected.h"
#include "probe/checks/variant.h"
#include "probe/exchange/connection.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/exchange/receive.h"
#include "probe/link/transport.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

enum { REASON_TRANSPORT_TYPE = 9 };

/* No violation is reported if the peer's interface has just gone down. */
static bool responds_without_connection(struct target *t)
{
    const struct request q = {.grh = t->peer->needs_grh, .alone = true};
    return exchange_run(t, &q, TRIES).outcome == RESPONSE_RECEIVED;
}

static void assess_service_id(struct target *t, const struct cm_connection *c, const char *response)
{
    const enum rule_number rule = R_RFC4755_3_5_SERVICE_ID;
    char expected[80], actual[40];
    snprintf(expected, sizeof expected, "connections are accepted at Service-ID 0x%016llx",
             (unsigned long long)peer_service_id(t, FORM_RFC));
    snprintf(actual, sizeof actual, "0x%016llx",
             (unsigned long long)peer_service_id(t, FORM_LINUX));
    if (!c)
        connected_add_result(t, rule, OUTCOME_INCONCLUSIVE, expected, response);
    else if (t->peer->form == FORM_RFC)
        connected_add_result(t, rule, connection_is_up(c) ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE,
                             expected,
                             connection_is_up(c) ? "the RFC's Service-ID is accepted" : response);
    else if (t->peer->form == FORM_LINUX)
        connected_add_result(t, rule, OUTCOME_FAIL, expected, actual);
    else if (responds_without_connection(t))
        connected_add_result(
            t, rule, OUTCOME_FAIL, expected,
            "the peer announces connected mode, but rejects the REQ to each Service-ID "
            "of it");
    else
        connected_add_result(t, rule, OUTCOME_INCONCLUSIVE, expected, "the peer no longer replies");
}

/*
 * The REP's private data is checked when it arrives. Without a REP, these rules are inconclusive.
 */
static void assess_no_rep(struct target *t, const struct cm_connection *c, const char *response)
{
    static const enum rule_number of_rep[] = {R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA,
                                              R_RFC4755_6_PRIVATE_DATA, R_RFC4755_6_RESERVED_ZERO};
    for (size_t i = 0; i < G_N_ELEMENTS(of_rep) && !connection_is_up(c); i++)
        connected_add_result(t, of_rep[i], OUTCOME_INCONCLUSIVE, "a REP", response);
}

/*
 * Tests whether the peer responds over UD while a connection is up. If not, a request without a
 * connection shows whether the peer responds at all. Afterwards *c is a new connection.
 */
static enum decision responds_while_connected(struct target *t, struct cm_connection **c)
{
    char response[VERDICT_TEXT];
    const struct connect_options d = connected_default_options(t);
    if (connected_try_ud(t))
        return RULE_MET;
    for (unsigned i = 0; i < 2; i++) {
        peer_disconnect(t, *c);
        *c = NULL;
        if (!connected_try_ud(t))
            return RULE_UNDECIDED;
        *c = peer_connect(t, &d, response);
        if (!connection_is_up(*c))
            return RULE_UNDECIDED;
        if (connected_try_ud(t))
            return RULE_MET;
    }
    return RULE_VIOLATED;
}

static void check_connection(struct target *t)
{
    char response[VERDICT_TEXT];
    struct connect_options d = connected_default_options(t);
    /* Send the REQs for both forms in this check, even if an earlier check has found the form. */
    t->peer->form = FORM_UNKNOWN;
    struct cm_connection *c = peer_connect(t, &d, response);
    assess_service_id(t, c, response);
    assess_no_rep(t, c, response);
    if (connection_is_up(c))
        variant_report(t, R_RFC4755_2_RFC4391_SUPPORTED, responds_while_connected(t, &c),
                       &(struct decision_words){
                           "a reply", "it replies over UD while a connection is open",
                           "no reply over UD while a connection is open, but replies without one",
                           "the peer no longer replies", NULL});
    peer_disconnect(t, c);
}

/* RFC 4755 §3.2 leaves the choice to the peer: its behaviour is reported, but not rated. */
static void check_connection_second(struct target *t)
{
    char text[VERDICT_TEXT];
    struct connect_options d = connected_default_options(t);
    struct cm_connection *first = peer_connect(t, &d, text),
                         *second = connection_is_up(first) ? peer_connect(t, &d, text) : NULL;
    bool answered = connection_is_up(first) && second;
    connected_add_result(t, R_RFC4755_3_2_FURTHER_REQ,
                         answered ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE, "a reply", text);
    if (connection_is_up(first)) {
        t->peer->cm_unanswered = false; /* only the second REQ got no response */
        results_stage(t->results, "peer.second-connection", OUTCOME_NOTED, "",
                      "a second REQ while a connection is open: %s", text);
    }
    peer_disconnect(t, second);
    peer_disconnect(t, first);
}

static void assess_announced(struct target *t, const struct cm_connection *c, const char *response)
{
    bool never = c && c->result == CONNECT_REJECTED && c->reason == REASON_TRANSPORT_TYPE;
    if (connection_is_up(c))
        connected_add_result(t, R_RFC4755_3_1_FLAGS, OUTCOME_PASS, "",
                             "it takes connections of the mode that it announces");
    else
        connected_add_result(t, R_RFC4755_7_ANY_MODE_ACCEPTED,
                             never ? OUTCOME_FAIL : OUTCOME_INCONCLUSIVE,
                             "a connection of the mode that is announced", response);
}

static void assess_unannounced(struct target *t, const struct cm_connection *c,
                               const char *response)
{
    bool refused = c && c->result == CONNECT_REJECTED;
    connected_add_result(t, R_RFC4755_3_1_FLAGS, refused ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE,
                         "REJ: the mode is not announced", response);
}

/*
 * A mode that the peer does not announce is tried only with --disruptive: Linux then logs a
 * warning.
 */
static void check_connection_modes(struct target *t)
{
    for (unsigned uc = 0; uc <= 1 && !target_ended(t); uc++) {
        bool announced = peer_announces(t, uc);
        if (!announced && !t->run->options->disruptive)
            continue;
        char response[VERDICT_TEXT];
        struct cm_connection *c = peer_connect(t, &(struct connect_options){.uc = uc}, response);
        if (announced)
            assess_announced(t, c, response);
        else
            assess_unannounced(t, c, response);
        peer_disconnect(t, c);
    }
}

static const struct check checks[] = {
    {.name = "connection",
     .stage = "peer.connections",
     .needs = NEEDS_CONNECTIONS,
     .run = check_connection,
     .sends =
         "CM REQ with the RFC's Service-ID; if the peer rejects it, with Linux's (0x10...). Then DREQ, as at the end of each of these checks",
     .expects =
         "a REP with the peer's UD QPN, its Receive MTU and Reserved 0; it replies over UD meanwhile",
     RULES(R_RFC4755_3_5_SERVICE_ID, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, R_RFC4755_6_PRIVATE_DATA,
           R_RFC4755_6_RESERVED_ZERO, R_RFC4755_2_RFC4391_SUPPORTED)},
    {.name = "connection-second",
     .stage = "peer.second-connection",
     .needs = NEEDS_CONNECTIONS,
     .run = check_connection_second,
     .sends = "a second REQ while a connection is open",
     .expects = "any response: it is reported, not checked",
     RULES(R_RFC4755_3_2_FURTHER_REQ)},
    {.name = "connection-modes",
     .needs = NEEDS_CONNECTIONS,
     .run = check_connection_modes,
     .sends = "REQ for each mode that the peer announces; with --disruptive for the other too",
     .expects = "a REP, and a REJ",
     RULES(R_RFC4755_3_1_FLAGS, R_RFC4755_7_ANY_MODE_ACCEPTED)},
};
const struct check_table connection_checks = {checks, G_N_ELEMENTS(checks)};
