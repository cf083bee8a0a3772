/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a peer's test. See end.h. */
#include "probe/checks/end.h"

#include <string.h>

#include "probe/checks/numbers.h"
#include "probe/checks/owner.h"
#include "probe/checks/path_loss.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/path_errors.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/records.h"
#include "probe/exchange/request.h"
#include "probe/exchange/response_times.h"
#include "probe/exchange/tally.h"
#include "probe/link/advice.h"
#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/target.h"
#include "probe/run/text.h"
#include "probe/why/why.h"
#include "report/report.h"
#include "wire/smp.h"

/* ---- this side */

/* Checks the port itself, which needs no packet. */
static char *port_reason(struct target *t)
{
    struct transport *transport = t->link->transport;
    struct port_facts now;
    bool has_pkey = false;
    if (!transport->ops->read_port || !transport->ops->read_port(transport, &now))
        return NULL;
    if (now.state != PORT_ACTIVE)
        return g_strdup_printf("%s port %u is no longer active", now.device, now.port);
    for (unsigned i = 0; i < now.n_pkeys; i++)
        has_pkey |= ((now.pkeys[i] ^ t->link->pkey) & 0x7fff) == 0;
    return has_pkey ? NULL
                    : g_strdup_printf("%s port %u is no longer in partition 0x%04x", now.device,
                                      now.port, t->link->pkey);
}

bool end_port_is_active(struct target *t)
{
    struct transport *transport = t->link->transport;
    struct port_facts now;
    return t->yield || !transport->ops->read_port || !transport->ops->read_port(transport, &now) ||
           now.state == PORT_ACTIVE;
}

/* Asks for the broadcast group, and for this port's membership of it. */
static char *sa_reason(struct target *t)
{
    struct mc_group g;
    uint16_t status;
    struct member_state m;
    unsigned lid = t->link->transport->facts.sm_lid;
    enum sa_result result = group_get(t, t->link->group.mgid, &g, &status);
    if (result == SA_NO_RESPONSE && t->run->sa.slow[0])
        return g_strdup(sa_slow_text(t));
    if (result == SA_NO_RESPONSE && t->run->sa.limit_ms)
        return g_strdup_printf("the SA (LID %u) did not answer within %.1f s", lid,
                               t->run->sa.limit_ms / 1000.0);
    if (result == SA_NO_RESPONSE)
        return g_strdup_printf("the SA (LID %u) no longer answers", lid);
    if (result == SA_BUSY)
        return g_strdup_printf("the SA (LID %u) is busy", lid);
    if (group_is_missing(result, status))
        return g_strdup("the SA no longer has the broadcast group");
    if (result == SA_ABSENT)
        return g_strdup(sa_failure_text(t, result, status));
    if (group_member_state(t, t->link->group.mgid, &m) == SA_SUCCESS && !m.member)
        return g_strdup("this port is no longer in the broadcast group");
    return NULL;
}

char *end_own_reason(struct target *t)
{
    char *why = port_reason(t);
    bool can = transport_can(t->link->transport, CAN_QUERY_SA) && !target_ended(t);
    return why || !can ? why : sa_reason(t);
}

/* ---- the last request */

static void report_own_end(struct target *t, const char *why)
{
    struct port_words w;
    advice_name_port(t->link, &w);
    t->results->checked->state = "not fully tested";
    results_stage(t->results, "peer.end", OUTCOME_INCONCLUSIVE, "", "%s", why);
    results_advise(t->results, "ipoib-probe %s fabric; then test again", w.probe);
}

static void report_silent(struct target *t, const struct exchange *last)
{
    char *own = end_own_reason(t);
    if (own)
        report_own_end(t, own);
    else if (last->outcome == NOT_SENT && !last->no_group)
        results_stage(t->results, "peer.end", OUTCOME_INCONCLUSIVE, "", "the last request was %s",
                      last->received);
    else {
        t->results->checked->state = "no longer reachable";
        results_stage(t->results, "peer.end", OUTCOME_INCONCLUSIVE, "",
                      "it no longer replies to the request of the beginning: %s", last->received);
        if (t->yield)
            results_advise(t->results, "ipoib-probe --why %.*s", target_word(t), t->name);
        else
            g_free(why_no_reply(t, NULL)); /* the stage after it has the cause */
    }
    g_free(own);
}

/* Returns false if the peer does not reply to the request of the beginning. */
static bool request_again(struct target *t)
{
    struct exchange x = exchange_run(t, &(struct request){.multicast = true}, TRIES);
    if (x.outcome == RESPONSE_RECEIVED || target_ended(t))
        return true;
    if (x.outcome == NO_RESPONSE && owner_moved(t))
        return true; /* peer.changed */
    report_silent(t, &x);
    return false;
}

/* ---- the requests */

/* A peer that resolves the probe's address has a route to it. */
static void report_no_echo(struct target *t, unsigned echoes)
{
    char ip[48];
    text_ip(t->ipv6, t->link->source.ip, ip);
    char *wrong = t->peer->unusable_echo
                      ? g_strdup_printf("its replies have %s", t->peer->unusable_echo)
                      : NULL;
    results_stage(t->results, "peer.echo", OUTCOME_INCONCLUSIVE, "",
                  "it answers none of %u echo requests: %s", echoes,
                  wrong ? wrong
                  : t->peer->asked
                      ? "it resolves the probe's address, so it has a route back, and "
                        "drops ICMP echo"
                      : "it drops ICMP echo, has no route back, or its requests to the "
                        "group do not reach this port");
    results_advise(t->results,
                   wrong
                       ? "on the peer: ethtool -k INTERFACE; does its adapter compute checksums?"
                       : "on the peer: ip route get %s; nft list ruleset; or test without --source",
                   ip);
    g_free(wrong);
}

/* It was silent until the probe announced the address by unicast. */
static void report_not_asked(struct target *t)
{
    uint16_t own = t->link->transport->facts.lid;
    char *advice = advice_look_at_multicast(t->link, t->link->group.mlid,
                                            records_get_switch_lid(t, own), own);
    results_stage(t->results, "peer.broadcast", OUTCOME_NOTED, "",
                  "it replied to echo requests only after the probe had announced its address by "
                  "unicast, and no request for that address arrived: it remembers the address from "
                  "an earlier test, or packets to the group do not reach this port");
    results_advise(t->results, "test with another unused address; if the same: %s", advice);
    g_free(advice);
}

/* The packets of a connection take the path of those over UD, but the peer's adapter acknowledges.
 */
static void report_lost_messages(struct target *t)
{
    struct port_words w;
    advice_name_port(t->link, &w);
    if (numbers_is_slow(t)) {
        results_stage(t->results, "peer.connections", VERDICT_SKIPPED, "",
                      "none of %u messages over connections was acknowledged in time; a "
                      "consequence of peer.slow",
                      t->peer->messages_lost);
        return;
    }
    results_stage(t->results, "peer.connections", OUTCOME_FAIL, "",
                  "none of %u messages over connections was acknowledged, and requests over UD are "
                  "answered: packets of connections, or their acknowledgements, are lost on the "
                  "path",
                  t->peer->messages_lost);
    results_advise(
        t->results,
        "ibtracert %s %u %u; perfquery %s; perfquery %s %u %u: is a link or service level "
        "lossy? without connections, on both hosts: echo datagram > /sys/class/net/INTERFACE/mode",
        w.diags, t->link->transport->facts.lid, t->peer->lid, w.diags, w.diags, t->peer->lid,
        path_place_of(t, t->peer->lid).port);
}

/* The kernel sends no REQ without the SA's path, so the peer is not at fault then. */
static void report_no_connection(struct target *t, unsigned connections)
{
    struct port_words w;
    if (t->peer->cm_unresolved) {
        advice_name_port(t->link, &w);
        results_stage(
            t->results, "peer.connections", OUTCOME_INCONCLUSIVE, "",
            "it announces connected mode, and this host's kernel sent none of %u REQs: %s",
            connections, t->peer->no_connection);
        results_advise(t->results, "ipoib-probe %s fabric", w.probe);
        return;
    }
    results_stage(t->results, "peer.connections", OUTCOME_INCONCLUSIVE,
                  "on the peer: dmesg; lsmod | grep ib_cm; rdma system",
                  "it announces connected mode, and none of %u REQs got a REP or REJ: %s; so "
                  "applications over RDMA CM cannot connect either",
                  connections, t->peer->no_connection);
}

static void report_unanswered(struct target *t)
{
    const struct tally *all = &t->peer->tally;
    unsigned echoes = tally_requests(all, TALLY_ECHO),
             connections = tally_requests(all, TALLY_CONNECTION);
    if (echoes && !tally_answered(all, TALLY_ECHO))
        report_no_echo(t, echoes);
    else if (echoes && t->peer->announced && !t->peer->asked && !tally_lost(all))
        report_not_asked(t);
    if (peer_loses_messages(t->peer))
        report_lost_messages(t);
    else if (connections && !tally_answered(all, TALLY_CONNECTION))
        report_no_connection(t, connections);
}

/* Connections that failed because the SA, or this port, went away meanwhile say nothing of the
 * peer.
 */
static bool is_own_end(struct target *t)
{
    const struct tally *all = &t->peer->tally;
    bool silent = tally_requests(all, TALLY_CONNECTION) && !tally_answered(all, TALLY_CONNECTION);
    char *own = silent || t->peer->rdma_cm_failed ? end_own_reason(t) : NULL;
    if (!own)
        return false;
    checked_doubt_stage(t->results->checked, "peer.rdma-cm", own);
    report_own_end(t, own);
    g_free(own);
    return true;
}

enum { LOST_SHOWN = 3, PERCENT_SHOWN = 5, PERCENT_SAID = 10, PERCENT_JUDGED = 20 };

/* For the headline. */
static void set_lossy(struct target *t)
{
    struct checked *j = t->results->checked;
    if (j->state && strcmp(j->state, "reachable") == 0)
        j->state = "reachable, but packets are lost";
}

static void report_loss(struct target *t, const char *lost, const struct path_loss *l,
                        enum outcome outcome)
{
    results_stage(t->results, "peer.loss", outcome,
                  "look for errors of the links to it: perfquery, ibqueryerrors", "%s%s%s", lost,
                  l->text ? "; " : "", l->text ? l->text : "");
    path_loss_advise(t, l);
}

static unsigned percent_of(unsigned part, unsigned whole)
{
    return (unsigned)(((uint64_t)part * 100 + whole / 2) / whole);
}

void end_report_loss(struct target *t, bool watched)
{
    const struct checked_requests *q = &t->results->checked->requests;
    uint64_t lost = numbers_may_be_late(t) ? 0 : q->lost;
    bool many = lost >= LOST_SHOWN && lost * 100 > (uint64_t)q->packets * PERCENT_SHOWN,
         some = lost >= 2 && lost * 100 > (uint64_t)q->packets * PERCENT_SAID,
         most = lost >= (watched ? 2 : LOST_SHOWN) &&
                lost * 100 > (uint64_t)q->packets * PERCENT_JUDGED;
    if (!lost)
        return;
    char *text = g_strdup_printf("%u of %u requests lost (%u %%)", q->lost, q->packets,
                                 percent_of(q->lost, q->packets));
    struct path_loss l = path_loss_find(t);
    if (many)
        checked_doubt_stage(t->results->checked, "peer.rdma-cm",
                            "packets are lost, so it proves nothing");
    if (t->peer->loses_most) {
        char *more = g_strdup_printf("%s, so the test was shortened", text);
        report_loss(t, more, &l, l.fault ? OUTCOME_FAIL : OUTCOME_INCONCLUSIVE);
        g_free(more);
    } else if (l.fault || most || (watched && many))
        report_loss(t, text, &l, l.fault || watched ? OUTCOME_FAIL : OUTCOME_INCONCLUSIVE);
    if (l.fault || many || some || watched) {
        set_lossy(t);
        t->results->checked->remark = g_steal_pointer(&text);
    }
    g_free(l.text);
    g_free(text);
}

bool end_loses_most(struct target *t)
{
    if (t->peer->tally.pending && !target_ended(t)) /* is a response late, or lost? */
        response_times_settle(t, false);
    const struct tally_form sum = tally_sum(&t->peer->tally);
    uint64_t lost = numbers_may_be_late(t) ? 0 : sum.packets - sum.responses;
    return lost >= LOST_SHOWN && lost * 100 > (uint64_t)sum.packets * PERCENT_JUDGED;
}

static void count_requests(struct target *t, const struct tally_form *sum)
{
    t->results->checked->requests = (struct checked_requests){
        .counted = true,
        .sent = sum->first_try + sum->late + sum->never,
        .first_try = sum->first_try,
        .late = sum->late,
        .never = sum->never,
        .packets = sum->packets,
        .lost = sum->packets - sum->responses};
}

void end_report(struct target *t)
{
    bool there = !target_ended(t) && request_again(t);
    if (t->peer->tally.pending && !target_ended(t)) /* is a response late, or lost? */
        response_times_settle(t, false);
    const struct tally_form sum = tally_sum(&t->peer->tally);
    count_requests(t, &sum);
    if (target_ended(t))
        return;
    if (there && !is_own_end(t))
        report_unanswered(t);
    /* Of a peer that ended replies are missing too: only those after a retry show loss. */
    if (there || sum.late >= LOST_SHOWN)
        end_report_loss(t, false);
    if (t->peer->pings_lost)
        checked_follow_stage(t->results->checked, "peer.ping", "peer.loss");
}
