/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of the MTU of connections (RFC 4755 §5, 5.1). */
#include <stdio.h>
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/checks/connected_echo.h"
#include "probe/checks/sizes.h"
#include "probe/checks/variant.h"
#include "probe/exchange/connection.h"
#include "probe/exchange/echo_request.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/path_mtu.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/link/advice.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/target.h"
#include "wire/encap.h"

enum { LARGER_THAN_SMALL = 2000 };

/* ---- sizes */

static bool try_size(struct target *t, uint32_t size, void *session)
{
    struct connected_echo e = {.length = size, .most_tries = 1};
    return connected_echo_run(t, session, &e);
}

/* The result of the search for the largest size that gets a reply. */
struct session_limit {
    uint32_t largest; /* 0: none */
    uint32_t above;   /* a size that gets no reply; 0: all get one */
    bool confirmed;   /* so again: it is a limit, and not lost packets */
    bool lost;        /* the larger messages, or their acknowledgements, are lost */
};

static bool gets_reply(struct target *t, struct echo_session *s, uint32_t size)
{
    struct connected_echo e = {.length = size};
    return connected_echo_run(t, s, &e);
}

static void find_limit(struct target *t, struct echo_session *s, struct session_limit *l)
{
    uint32_t bad = l->above;
    l->largest = sizes_bisect(t, l->largest, bad, try_size, s);
    l->above = l->largest + 1;
    l->confirmed = gets_reply(t, s, l->largest) && !gets_reply(t, s, l->above) &&
                   !gets_reply(t, s, bad);
    l->lost = s->failed && s->lost;
    l->confirmed &= gets_reply(t, s, l->largest) && !target_ended(t);
}

static struct session_limit try_sizes_over_connection(struct target *t, struct echo_session *s,
                                                      uint32_t least, uint32_t most)
{
    const uint32_t sizes[] = {least, 1500, 2044, 4092, 9000, 16384, 32768, most};
    struct session_limit l = {.largest = 0};
    for (size_t i = 0; i < G_N_ELEMENTS(sizes) && !l.above && !target_ended(t); i++) {
        if (sizes[i] > most || sizes[i] < least || (i > 0 && sizes[i] <= l.largest))
            continue;
        if (gets_reply(t, s, sizes[i]))
            l.largest = sizes[i];
        else
            l.above = sizes[i];
    }
    if (!l.largest && least > ECHO_SMALL && gets_reply(t, s, ECHO_SMALL))
        l.largest = ECHO_SMALL; /* where between the two is the limit? */
    if (l.largest && l.above)
        find_limit(t, s, &l);
    return l;
}

/* Was the message itself not acknowledged, or is the reply missing? */
static bool is_refused(struct target *t, struct echo_session *s, uint32_t size)
{
    struct connected_echo e = {.length = size};
    s->failed = false;
    return !connected_echo_run(t, s, &e) && s->failed;
}

/*
 * A peer that refuses a message says so with a NAK. A message is sent in packets of the path's MTU:
 * if the reply to one that fits into a packet is missing, and the size is no MTU, packets are lost
 * on the path, whatever the peer accepts.
 */
static bool is_of_path(const struct echo_session *s, const struct session_limit *l)
{
    uint32_t packet = s->connection ? ib_mtu_bytes(s->connection->path_mtu) : 0;
    return l->confirmed &&
           (l->lost || (l->above + ENCAP_SIZE <= packet && sizes_is_no_mtu(l->largest)));
}

static void advise_path(struct target *t)
{
    struct port_words w;
    advice_name_port(t->link, &w);
    char *mtus = path_mtu_command(t);
    results_advise(t->results,
                   "%s; iblinkinfo %s: look for a link of another MTU, width or speed; perfquery "
                   "%s %u: lost packets",
                   mtus, w.diags, w.diags, t->peer->lid);
    g_free(mtus);
}

static void report_limit(struct target *t, struct echo_session *s, uint32_t most,
                         const struct session_limit *l)
{
    bool of_path = is_of_path(s, l);
    if (peer_loses_messages(t->peer)) /* peer.connections says so */
        return;
    if (!l->largest) {
        results_stage(t->results, "peer.connection-mtu", OUTCOME_NOTED, "",
                      "%u bytes; no echo request over it is answered", most);
        return;
    }
    results_stage(t->results, "peer.connection-mtu", of_path ? OUTCOME_FAIL : OUTCOME_NOTED, "",
                  "%u bytes; echo requests of up to %u are answered; larger ones %s%s", most,
                  l->largest,
                  !l->confirmed                ? "only from time to time"
                  : is_refused(t, s, l->above) ? "do not arrive"
                                               : "arrive, and their replies do not",
                  of_path ? ": packets are lost on the path" : "");
    if (of_path)
        advise_path(t);
}

static void report_sizes(struct target *t, struct echo_session *s, uint32_t most,
                         const struct session_limit *l)
{
    if (!l->above)
        results_stage(t->results, "peer.connection-mtu", OUTCOME_NOTED, "",
                      "%u bytes; echo requests of up to %u are answered", most, l->largest);
    else
        report_limit(t, s, most, l);
}

/*
 * A peer that announces a Receive MTU must accept messages of that size, so a message that breaks
 * the connection is a violation. A message that is acknowledged, but not replied to, proves
 * nothing.
 */
static void assess_largest(struct target *t, struct echo_session *s, uint32_t most)
{
    struct connected_echo e = {.length = most}, small = {.length = ECHO_SMALL};
    char expected[80];
    snprintf(expected, sizeof expected,
             "%u bytes of IP are accepted: the smaller Receive MTU minus 4", most);
    s->failed = s->lost = false;
    bool answered = connected_echo_run(t, s, &e), refused = !answered && s->failed && !s->lost;
    if (refused) {
        s->failed = false;
        bool again = connected_echo_run(t, s, &small) && !s->failed &&
                     !connected_echo_run(t, s, &e) && s->failed && !s->lost;
        refused = again && !t->run->stopped;
    }
    results_add(t->results, R_RFC4755_5_1_CONNECTION_MTU,
                answered  ? OUTCOME_PASS
                : refused ? OUTCOME_FAIL
                          : OUTCOME_INCONCLUSIVE,
                answered ? "" : expected,
                answered ? "the largest size of the connection is accepted" : s->received);
}

static void assess_least(struct target *t, struct echo_session *s, uint32_t least)
{
    struct connected_echo e = {.length = least};
    variant_report(
        t, R_RFC4755_5_MINIMUM_MTU, connected_echo_try(t, s, &e),
        &(struct decision_words){
            "an echo reply",
            "an echo request of the protocol's minimum MTU is answered over a connection",
            "an echo request of the protocol's minimum MTU is not answered over a connection",
            "the peer replies to no echo requests over a connection", NULL});
}

/* What is lost on the path says nothing about the peer. */
static void add_lost_on_path(struct target *t, uint32_t least, uint32_t largest)
{
    char *text = g_strdup_printf("packets above %u bytes are lost on the path", largest);
    results_add(t->results, R_RFC4755_5_MINIMUM_MTU,
                least <= largest ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE, "", text);
    results_add(t->results, R_RFC4755_5_1_CONNECTION_MTU, OUTCOME_INCONCLUSIVE, "an echo reply",
                text);
    g_free(text);
}

static void check_connection_sizes(struct target *t)
{
    struct echo_session s = {.options.uc = peer_default_uc(t)};
    uint32_t least = t->ipv6 ? MTU_MIN6 : MTU_MIN4,
             most = connected_echo_connect(t, &s) ? connection_ip_mtu(s.connection) : 0;
    if (most < least) {
        const char *why = s.connection ? "its REP has no Receive MTU that is large enough for IP"
                                       : s.received;
        results_add(t->results, R_RFC4755_5_MINIMUM_MTU, OUTCOME_INCONCLUSIVE,
                    "a connection for IP", why);
        results_add(t->results, R_RFC4755_5_1_CONNECTION_MTU, OUTCOME_INCONCLUSIVE,
                    "a connection for IP", why);
        peer_disconnect(t, s.connection);
        return;
    }
    const struct session_limit l = try_sizes_over_connection(t, &s, least, most);
    if (is_of_path(&s, &l))
        add_lost_on_path(t, least, l.largest);
    else {
        assess_least(t, &s, least);
        assess_largest(t, &s, most);
    }
    report_sizes(t, &s, most, &l);
    peer_disconnect(t, s.connection);
}

/* ---- small Receive MTU of the probe */

static void check_connection_small(struct target *t)
{
    const enum rule_number rule = R_RFC4755_5_1_CONNECTION_MTU;
    if (ib_mtu_bytes(t->link->group.mtu) < LARGER_THAN_SMALL + ENCAP_SIZE) {
        results_skip(
            t->results, rule,
            "the link's MTU is less than 2000 bytes: UD carries nothing that is too large for the connection");
        return;
    }
    char refused[VERDICT_TEXT];
    const struct connect_options d = {.uc = peer_default_uc(t), .receive_mtu = RECEIVE_SMALL};
    struct cm_connection *c = peer_connect(t, &d, refused);
    bool up = connection_is_up(c);
    uint32_t before = c ? c->peer_psn : 0;
    bool answered = up && exchange_echo(t, LARGER_THAN_SMALL);
    results_sent(t->results, "REQ with Receive MTU %u; then an echo request of %u bytes over UD",
                 RECEIVE_SMALL, LARGER_THAN_SMALL);
    if (!up || !c)
        results_add(t->results, rule, OUTCOME_INCONCLUSIVE,
                    "a REP to a REQ with a small Receive MTU", refused);
    else if (c->peer_psn == before)
        results_skip(t->results, rule,
                     answered ? "the peer sent nothing over the connection: it replies over UD"
                              : "the peer sent nothing over the connection");
    peer_disconnect(t, c);
}

static const struct check checks[] = {
    {.name = "connection-sizes",
     .stage = "peer.connection-mtu",
     .needs = NEEDS_SOURCE | NEEDS_CONNECTIONS,
     .run = check_connection_sizes,
     .sends =
         "REQ with Receive MTU 65524; ICMP echo requests of 68 (IPv6: 1280) bytes up to the connection's MTU",
     .expects = "none of them ends the connection; replies to the smallest",
     RULES(R_RFC4755_5_1_CONNECTION_MTU, R_RFC4755_5_MINIMUM_MTU)},
    {.name = "connection-small",
     .needs = NEEDS_SOURCE | NEEDS_CONNECTIONS,
     .run = check_connection_small,
     .sends = "REQ with Receive MTU 1284; then an ICMP echo request of 2000 bytes over UD",
     .expects = "nothing of more than 1280 bytes of IP over the connection",
     RULES(R_RFC4755_5_1_CONNECTION_MTU)},
};
const struct check_table connection_mtu_checks = {checks, G_N_ELEMENTS(checks)};
