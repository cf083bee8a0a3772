/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of connections: how they are set up, refused and ended (RFC 4755 §3.2 to 3.5, 6). See the
 * table in checks.c.
 */
#include "probe/checks.h"

#include <stdio.h>
#include <string.h>

#include "probe/connection.h"

enum { REASON_TRANSPORT_TYPE = 9 };

static struct dial plain(const struct target *t)
{
    return (struct dial){.uc = uc_by_default(t)};
}

static void add(struct target *t, enum rule_number rule, enum outcome outcome, const char *expected,
                const char *actual)
{
    results_add(t->results, rule, outcome, outcome == OUTCOME_PASS ? "" : expected, actual);
}

/* ---- the Service-ID, and the private data of REP and REJ */

/* A peer whose interface has just gone is at fault for nothing. */
static bool still_answers(struct target *t)
{
    struct answer *a = g_new(struct answer, 1);
    char sent[VERDICT_TEXT], came[VERDICT_TEXT];
    g_strlcpy(sent, t->results->sent, sizeof sent);
    g_strlcpy(came, t->results->came, sizeof came);
    bool there = ask_peer(t, &(struct question){.grh = t->peer->needs_grh, .alone = true}, TRIES,
                          a) == CAME_ANSWER;
    results_sent(t->results, "%s", sent);
    results_came(t->results, "%s", came);
    g_free(a);
    return there;
}

static void judge_service_id(struct target *t, const struct call *c)
{
    const enum rule_number rule = R_RFC4755_3_5_SERVICE_ID;
    char expected[80], actual[40];
    snprintf(expected, sizeof expected, "connections are taken by 0x%016llx",
             (unsigned long long)service_id(t, FORM_RFC));
    snprintf(actual, sizeof actual, "0x%016llx", (unsigned long long)service_id(t, FORM_LINUX));
    if (!c)
        add(t, rule, OUTCOME_INCONCLUSIVE, expected, t->results->came);
    else if (t->peer->form == FORM_RFC)
        add(t, rule, is_up(c) ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE, expected,
            is_up(c) ? "the RFC's Service-ID is taken" : t->results->came);
    else if (t->peer->form == FORM_LINUX)
        add(t, rule, OUTCOME_FAIL, expected, actual);
    else if (still_answers(t))
        add(t, rule, OUTCOME_FAIL, expected,
            "connected mode is announced, and no Service-ID of it is known there");
    else
        add(t, rule, OUTCOME_INCONCLUSIVE, expected, "the peer no longer answers at all");
}

/*
 * What is in the REP's private data is told as it comes; here it is told that there was none to
 * judge.
 */
static void judge_no_rep(struct target *t, const struct call *c)
{
    static const enum rule_number of_rep[] = {R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA,
                                              R_RFC4755_6_PRIVATE_DATA, R_RFC4755_6_RESERVED_ZERO};
    for (size_t i = 0; i < G_N_ELEMENTS(of_rep) && !is_up(c); i++)
        add(t, of_rep[i], OUTCOME_INCONCLUSIVE, "a REP", t->results->came);
}

static bool answers_over_ud(struct target *t)
{
    struct answer *a = g_new(struct answer, 1);
    bool answers = ask_peer(t, &(struct question){.grh = t->peer->needs_grh, .alone = true}, TRIES,
                            a) == CAME_ANSWER;
    g_free(a);
    return answers && !target_ended(t);
}

/*
 * While a connection stands; that the peer is there at all is asked without one. *c is another one
 * behind it.
 */
static enum kept answers_meanwhile(struct target *t, struct call **c)
{
    const struct dial d = plain(t);
    if (answers_over_ud(t))
        return KEPT_YES;
    for (unsigned i = 0; i < 2; i++) {
        hang_up(t, *c);
        *c = NULL;
        if (!answers_over_ud(t))
            return KEPT_UNKNOWN;
        *c = dial(t, &d);
        if (!is_up(*c))
            return KEPT_UNKNOWN;
        if (answers_over_ud(t))
            return KEPT_YES;
    }
    return KEPT_NO;
}

void check_connection(struct target *t)
{
    struct dial d = plain(t);
    t->peer->form = FORM_UNKNOWN; /* both REQs belong to this check, whichever ran before it */
    struct call *c = dial(t, &d);
    judge_service_id(t, c);
    judge_no_rep(t, c);
    if (is_up(c))
        tell_kept(t, R_RFC4755_2_RFC4391_SUPPORTED, answers_meanwhile(t, &c),
                  &(struct kept_words){
                      "an answer", "it answers over UD while a connection stands",
                      "no answer over UD while a connection stands, and answers without one",
                      "the peer no longer answers at all"});
    hang_up(t, c);
}

/* ---- a second connection */

/* RFC 4755 §3.2 leaves it to the peer: what it does is told, and not judged. */
void check_connection_second(struct target *t)
{
    struct dial d = plain(t);
    struct call *first = dial(t, &d), *second = is_up(first) ? dial(t, &d) : NULL;
    char text[VERDICT_TEXT];
    g_strlcpy(text, t->results->came, sizeof text);
    bool told = is_up(first) && second;
    add(t, R_RFC4755_3_2_FURTHER_REQ, told ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE, "an answer",
        text);
    if (is_up(first)) {
        t->peer->cm_silent = false; /* it is silent about a second one alone */
        results_stage(t->results, "peer.second-connection", OUTCOME_NOTED, "",
                      "a second REQ while a connection stands: %s", text);
    }
    hang_up(t, second);
    hang_up(t, first);
}

/* ---- the modes */

static void judge_announced(struct target *t, const struct call *c)
{
    bool never = c && c->result == CALL_REFUSED && c->reason == REASON_TRANSPORT_TYPE;
    if (is_up(c))
        add(t, R_RFC4755_3_1_FLAGS, OUTCOME_PASS, "",
            "it takes connections of the mode that it announces");
    else
        add(t, R_RFC4755_7_ANY_MODE_ACCEPTED, never ? OUTCOME_FAIL : OUTCOME_INCONCLUSIVE,
            "a connection of the mode that is announced", t->results->came);
}

static void judge_unannounced(struct target *t, const struct call *c)
{
    bool refused = c && c->result == CALL_REFUSED;
    add(t, R_RFC4755_3_1_FLAGS, refused ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE,
        "REJ: the mode is not announced", t->results->came);
}

/*
 * A mode that is not announced is asked for with --disruptive alone: Linux writes a warning into
 * its log.
 */
void check_connection_modes(struct target *t)
{
    for (unsigned uc = 0; uc <= 1 && !target_ended(t); uc++) {
        bool announced = announces(t, uc);
        if (!announced && !t->run->options->disruptive)
            continue;
        struct call *c = dial(t, &(struct dial){.uc = uc});
        if (announced)
            judge_announced(t, c);
        else
            judge_unannounced(t, c);
        hang_up(t, c);
    }
}

/* ---- the end */

static bool goes_up(struct target *t, const struct dial *d)
{
    struct call *c = dial(t, d);
    bool up = is_up(c);
    hang_up(t, c);
    return up;
}

void check_connection_end(struct target *t)
{
    struct dial d = plain(t);
    struct call *c = dial(t, &d);
    bool up = is_up(c);
    if (!up) {
        add(t, R_RFC4755_2_RFC4391_SUPPORTED, OUTCOME_INCONCLUSIVE, "a connection to be ended",
            t->results->came);
        hang_up(t, c);
        return;
    }
    bool answered = hang_up(t, c);
    bool there = answers_over_ud(t);
    add(t, R_RFC4755_2_RFC4391_SUPPORTED, there ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE, "an answer",
        there ? "it answers over UD after the connection's end"
              : "the peer no longer answers at all");
    bool again = goes_up(t, &d);
    results_stage(t->results, "peer.disconnect", OUTCOME_NOTED, "",
                  "the DREQ is %s; a further REQ behind it is %s",
                  answered ? "answered by a DREP" : "not answered",
                  again ? "accepted" : t->results->came);
}

/* ---- what a program cannot see */

/*
 * A stock kernel lets no program accept IPoIB's REQs, and rdma_cm takes the first octet of a REQ's
 * private data for its own header's version, 0, even where it puts no header there.
 */
void check_connection_unseen(struct target *t)
{
    static const struct {
        enum rule_number rule;
        const char *why;
    } unseen[] = {
        {R_RFC4755_3_3_SIMULTANEOUS,
         "a REQ of the peer's shows it, which this host's kernel answers itself and gives to no program"},
        {R_RFC4755_5_1_RECEIVE_MTU,
         "a REQ of the peer's shows it, which this host's kernel answers itself and gives to no program"},
        {R_RFC4755_5_1_SMALLER_MTU_ACCEPTED,
         "the peer shows it as the requester: its REQs are answered by this host's kernel"},
        {R_RFC4755_6_RESERVED_IGNORED,
         "this host's kernel writes 0 into that octet, whatever a program sends there"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(unseen); i++)
        results_skip(t->results, unseen[i].rule, unseen[i].why);
}
