/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of IP over connections of each mode (RFC 4755 §2.1, 4, 7). */
#include <stdio.h>
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/checks/connected_echo.h"
#include "probe/checks/variant.h"
#include "probe/exchange/connection.h"
#include "probe/exchange/echo_request.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

/* The response to an NS from the unspecified address goes to all nodes. */
static bool responds_by_multicast(struct target *t)
{
    const struct request q = {.grh = t->peer->needs_grh};
    return t->ipv6 && exchange_run(t, &q, TRIES).outcome == RESPONSE_RECEIVED;
}

/*
 * The packet checks report violations in what the peer sends over connections. This adds a pass, or
 * a skip if the peer sent nothing.
 */
static void assess_reply(struct target *t, const struct connected_echo *e)
{
    static const enum rule_number of_sender[] = {R_RFC4755_4_TYPE,
                                                 R_RFC4755_4_ENCAPSULATION_HEADER};
    for (size_t i = 0; i < G_N_ELEMENTS(of_sender); i++)
        if (e->over_connection)
            results_add(t->results, of_sender[i], OUTCOME_PASS, "",
                        "the reply over the connection has the header");
        else
            results_skip(t->results, of_sender[i],
                         "the peer sent nothing over the connection: it replies over UD");
    if (e->by_multicast || responds_by_multicast(t))
        results_add(t->results, R_RFC4755_2_1_MULTICAST_OVER_UD, OUTCOME_PASS, "",
                    "while the connection was open its multicast was sent over UD");
    else
        results_skip(t->results, R_RFC4755_2_1_MULTICAST_OVER_UD,
                     "the peer sent no multicast while the connection was open");
}

/*
 * No reply over the connection is a violation only if the same request is answered over UD: a
 * firewall may block both.
 */
static void assess_mode(struct target *t, struct echo_session *s, struct connected_echo *e)
{
    char mode[4], text[80];
    g_strlcpy(mode, s->options.uc ? "UC" : "RC", sizeof mode);
    enum decision k = connected_echo_run(t, s, e) ? RULE_MET : RULE_UNDECIDED;
    bool had_connection = connection_is_up(s->connection) || s->failed;
    if (k != RULE_MET && had_connection && !s->lost && exchange_echo(t, ECHO_SMALL))
        k = connected_echo_run(t, s, e)    ? RULE_MET
            : exchange_echo(t, ECHO_SMALL) ? RULE_VIOLATED
                                           : RULE_UNDECIDED;
    if (k == RULE_VIOLATED) {
        connected_echo_sent(t, s, e);
        results_received(t->results, "no echo reply to 6 of them; over UD, replies");
    }
    snprintf(text, sizeof text,
             k == RULE_MET ? "IP over %s is accepted" : "IP over %s is not answered, over UD it is",
             mode);
    variant_report(t, R_RFC4755_7_ANY_MODE_ACCEPTED, k,
                   &(struct decision_words){"an echo reply", text, text,
                                            had_connection && !s->lost
                                                ? "the peer replies to no echo requests"
                                                : s->received,
                                            NULL});
    if (k == RULE_MET)
        assess_reply(t, e);
}

static void assess_reserved(struct target *t, struct echo_session *s)
{
    struct connected_echo e = {.length = ECHO_SMALL, .reserved = 0xbeef};
    variant_report(t, R_RFC4391_6_RESERVED_IGNORED, connected_echo_try(t, s, &e),
                   &(struct decision_words){
                       "an echo reply",
                       "an echo request with Reserved 0xbeef over a connection is answered",
                       "an echo request with Reserved 0xbeef over a connection is not answered",
                       "the peer replies to no echo requests over a connection", NULL});
}

static void check_connection_echo(struct target *t)
{
    for (unsigned uc = 0; uc <= 1 && !target_ended(t); uc++) {
        struct echo_session s = {.options.uc = uc};
        struct connected_echo e = {.length = ECHO_SMALL};
        if (!peer_announces(t, uc))
            continue;
        assess_mode(t, &s, &e);
        if (connection_is_up(s.connection))
            assess_reserved(t, &s);
        peer_disconnect(t, s.connection);
    }
}

static const struct check checks[] = {
    {.name = "connection-echo",
     .needs = NEEDS_SOURCE | NEEDS_CONNECTIONS,
     .run = check_connection_echo,
     .sends =
         "ICMP echo request of 84 bytes over a connection of each mode, then with Reserved 0xbeef",
     .expects = "echo replies over any mode; the peer's multicast over UD",
     RULES(R_RFC4755_7_ANY_MODE_ACCEPTED, R_RFC4755_4_ENCAPSULATION_HEADER, R_RFC4755_4_TYPE,
           R_RFC4755_2_1_MULTICAST_OVER_UD, R_RFC4391_6_RESERVED_IGNORED)},
};
const struct check_table connection_ip_checks = {checks, G_N_ELEMENTS(checks)};
