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

static struct dial plain(const struct probe *p)
{
    return (struct dial){.uc = uc_by_default(p)};
}

static void add(struct probe *p, enum rule_number rule, enum outcome outcome, const char *expected,
                const char *actual)
{
    results_add(p->results, rule, outcome, outcome == OUTCOME_PASS ? "" : expected, actual);
}

/* ---- the Service-ID, and the private data of REP and REJ */

/* A peer whose interface has just gone is at fault for nothing. */
static bool still_answers(struct probe *p)
{
    struct answer *a = g_new(struct answer, 1);
    char sent[VERDICT_TEXT], came[VERDICT_TEXT];
    g_strlcpy(sent, p->results->sent, sizeof sent);
    g_strlcpy(came, p->results->came, sizeof came);
    bool there = ask_peer(p, &(struct question){.grh = p->peer.needs_grh, .alone = true}, TRIES,
                          a) == CAME_ANSWER;
    results_sent(p->results, "%s", sent);
    results_came(p->results, "%s", came);
    g_free(a);
    return there;
}

static void judge_service_id(struct probe *p, const struct call *c)
{
    const enum rule_number rule = R_RFC4755_3_5_SERVICE_ID;
    char expected[80], actual[40];
    snprintf(expected, sizeof expected, "connections are taken by 0x%016llx",
             (unsigned long long)service_id(p, FORM_RFC));
    snprintf(actual, sizeof actual, "0x%016llx", (unsigned long long)service_id(p, FORM_LINUX));
    if (!c)
        add(p, rule, OUTCOME_INCONCLUSIVE, expected, p->results->came);
    else if (p->peer.form == FORM_RFC)
        add(p, rule, is_up(c) ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE, expected,
            is_up(c) ? "the RFC's Service-ID is taken" : p->results->came);
    else if (p->peer.form == FORM_LINUX)
        add(p, rule, OUTCOME_FAIL, expected, actual);
    else if (still_answers(p))
        add(p, rule, OUTCOME_FAIL, expected,
            "connected mode is announced, and no Service-ID of it is known there");
    else
        add(p, rule, OUTCOME_INCONCLUSIVE, expected, "the peer no longer answers at all");
}

/*
 * What is in the REP's private data is told as it comes; here it is told that there was none to
 * judge.
 */
static void judge_no_rep(struct probe *p, const struct call *c)
{
    static const enum rule_number of_rep[] = {R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA,
                                              R_RFC4755_6_PRIVATE_DATA, R_RFC4755_6_RESERVED_ZERO};
    for (size_t i = 0; i < G_N_ELEMENTS(of_rep) && !is_up(c); i++)
        add(p, of_rep[i], OUTCOME_INCONCLUSIVE, "a REP", p->results->came);
}

static bool answers_over_ud(struct probe *p)
{
    struct answer *a = g_new(struct answer, 1);
    bool answers = ask_peer(p, &(struct question){.grh = p->peer.needs_grh, .alone = true}, TRIES,
                            a) == CAME_ANSWER;
    g_free(a);
    return answers && !p->stopped && !p->broken;
}

/*
 * While a connection stands; that the peer is there at all is asked without one. *c is another one
 * behind it.
 */
static enum kept answers_meanwhile(struct probe *p, struct call **c)
{
    const struct dial d = plain(p);
    if (answers_over_ud(p))
        return KEPT_YES;
    for (unsigned i = 0; i < 2; i++) {
        hang_up(p, *c);
        *c = NULL;
        if (!answers_over_ud(p))
            return KEPT_UNKNOWN;
        *c = dial(p, &d);
        if (!is_up(*c))
            return KEPT_UNKNOWN;
        if (answers_over_ud(p))
            return KEPT_YES;
    }
    return KEPT_NO;
}

void check_connection(struct probe *p)
{
    struct dial d = plain(p);
    p->peer.form = FORM_UNKNOWN; /* both REQs belong to this check, whichever ran before it */
    struct call *c = dial(p, &d);
    judge_service_id(p, c);
    judge_no_rep(p, c);
    if (is_up(c))
        tell_kept(p, R_RFC4755_2_RFC4391_SUPPORTED, answers_meanwhile(p, &c),
                  &(struct kept_words){
                      "an answer", "it answers over UD while a connection stands",
                      "no answer over UD while a connection stands, and answers without one",
                      "the peer no longer answers at all"});
    hang_up(p, c);
}

/* ---- a second connection */

/* RFC 4755 §3.2 leaves it to the peer: what it does is told, and not judged. */
void check_connection_second(struct probe *p)
{
    struct dial d = plain(p);
    struct call *first = dial(p, &d), *second = is_up(first) ? dial(p, &d) : NULL;
    char text[VERDICT_TEXT];
    g_strlcpy(text, p->results->came, sizeof text);
    bool told = is_up(first) && second;
    add(p, R_RFC4755_3_2_FURTHER_REQ, told ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE, "an answer",
        text);
    if (is_up(first)) {
        p->peer.cm_silent = false; /* it is silent about a second one alone */
        results_stage(p->results, "peer.second-connection", OUTCOME_NOTED, "",
                      "a second REQ while a connection stands: %s", text);
    }
    hang_up(p, second);
    hang_up(p, first);
}

/* ---- the modes */

static void judge_announced(struct probe *p, const struct call *c)
{
    bool never = c && c->result == CALL_REFUSED && c->reason == REASON_TRANSPORT_TYPE;
    if (is_up(c))
        add(p, R_RFC4755_3_1_FLAGS, OUTCOME_PASS, "",
            "it takes connections of the mode that it announces");
    else
        add(p, R_RFC4755_7_ANY_MODE_ACCEPTED, never ? OUTCOME_FAIL : OUTCOME_INCONCLUSIVE,
            "a connection of the mode that is announced", p->results->came);
}

static void judge_unannounced(struct probe *p, const struct call *c)
{
    bool refused = c && c->result == CALL_REFUSED;
    add(p, R_RFC4755_3_1_FLAGS, refused ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE,
        "REJ: the mode is not announced", p->results->came);
}

/*
 * A mode that is not announced is asked for with --disruptive alone: Linux writes a warning into
 * its log.
 */
void check_connection_modes(struct probe *p)
{
    for (unsigned uc = 0; uc <= 1 && !p->stopped && !p->broken; uc++) {
        bool announced = announces(p, uc);
        if (!announced && !p->options->disruptive)
            continue;
        struct call *c = dial(p, &(struct dial){.uc = uc});
        if (announced)
            judge_announced(p, c);
        else
            judge_unannounced(p, c);
        hang_up(p, c);
    }
}

/* ---- the end */

static bool goes_up(struct probe *p, const struct dial *d)
{
    struct call *c = dial(p, d);
    bool up = is_up(c);
    hang_up(p, c);
    return up;
}

void check_connection_end(struct probe *p)
{
    struct dial d = plain(p);
    struct call *c = dial(p, &d);
    bool up = is_up(c);
    if (!up) {
        add(p, R_RFC4755_2_RFC4391_SUPPORTED, OUTCOME_INCONCLUSIVE, "a connection to be ended",
            p->results->came);
        hang_up(p, c);
        return;
    }
    bool answered = hang_up(p, c);
    bool there = answers_over_ud(p);
    add(p, R_RFC4755_2_RFC4391_SUPPORTED, there ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE, "an answer",
        there ? "it answers over UD after the connection's end"
              : "the peer no longer answers at all");
    bool again = goes_up(p, &d);
    results_stage(p->results, "peer.disconnect", OUTCOME_NOTED, "",
                  "the DREQ is %s; a further REQ behind it is %s",
                  answered ? "answered by a DREP" : "not answered",
                  again ? "accepted" : p->results->came);
}

/* ---- what a program cannot see */

/*
 * A stock kernel lets no program accept IPoIB's REQs, and rdma_cm takes the first octet of a REQ's
 * private data for its own header's version, 0, even where it puts no header there.
 */
void check_connection_unseen(struct probe *p)
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
        results_skip(p->results, unseen[i].rule, unseen[i].why);
}
