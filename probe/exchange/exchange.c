/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends requests to a peer and waits for the responses. See exchange.h. */
#include "probe/exchange/exchange.h"

#include <stdio.h>
#include <string.h>

#include "hca/mcgroup.h"
#include "probe/exchange/echo_request.h"
#include "probe/exchange/response_times.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/exchange/receive.h"
#include "probe/exchange/responder.h"
#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/link/message.h"
#include "probe/link/sa.h"
#include "probe/link/send.h"
#include "probe/link/transport.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "wire/encap.h"

/*
 * An NS is sent to the target's solicited-node group, which this port must join first. The SA is
 * queried before the join, because OpenSM logs a join of a missing group as an error.
 */
enum sa_result exchange_find_group(struct target *t, const struct pending_request *x,
                                   struct mc_group *g, bool *there)
{
    uint8_t group[16], mgid[16];
    uint16_t status;
    *g = t->link->group;
    *there = true;
    if (!x->ipv6)
        return SA_SUCCESS;
    message_solicited_node(group, x->ip);
    message_ipv6_mgid(mgid, t->link->group.scope, t->link->pkey, group);
    if (!transport_can(t->link->transport, HAS_OWN_QP)) { /* the kernel joins the group */
        memcpy(g->mgid, mgid, 16);
        return SA_SUCCESS;
    }
    enum sa_result result = group_get(t, mgid, g, &status);
    *there = !group_is_missing(result, status);
    return result == SA_SUCCESS ? group_join(t, mgid, JOIN_SEND_ONLY_NON, false, g, &status)
                                : result;
}

/* That group among those which this queue pair receives; NULL: it is not attached to it. */
static const struct mc_group *find_attached(const struct target *t, const uint8_t *ipv6)
{
    uint8_t mgid[16];
    message_ipv6_mgid(mgid, t->link->group.scope, t->link->pkey, ipv6);
    for (guint i = 0; t->link->attached && i < t->link->attached->len; i++) {
        const struct mc_group *g = &g_array_index(t->link->attached, struct mc_group, i);
        if (memcmp(g->mgid, mgid, sizeof mgid) == 0)
            return g;
    }
    return NULL;
}

uint16_t exchange_all_nodes_mlid(const struct target *t)
{
    const struct mc_group *g = find_attached(t, message_all_nodes);
    return g ? g->mlid : 0;
}

/* Responses to an NS from the unspecified address are sent to all nodes. */
enum sa_result exchange_join_all_nodes(struct target *t)
{
    uint8_t mgid[16];
    struct mc_group g;
    uint16_t status;
    if (!transport_can(t->link->transport, HAS_OWN_QP))
        return SA_SUCCESS; /* the interface is in that group, like every IPv6 node */
    if (find_attached(t, message_all_nodes))
        return SA_SUCCESS;
    message_ipv6_mgid(mgid, t->link->group.scope, t->link->pkey, message_all_nodes);
    enum sa_result result = group_join(t, mgid, JOIN_FULL, false, &g, &status);
    return result == SA_SUCCESS && !group_attach(t, &g) ? SA_ERROR : result;
}

static bool send_request(struct target *t, struct pending_request *x, const struct mc_group *g)
{
    if (x->q->echo)
        return echo_send(t, x);
    uint8_t out[UD_SIZE], lladdr[LLADDR_SIZE];
    memcpy(lladdr, t->link->lladdr, LLADDR_SIZE);
    lladdr[LLADDR_FLAGS] = x->q->flags;
    uint32_t n = request_make(t, x, lladdr, out);
    bool sent;
    if (x->q->multicast)
        sent = send_group(t, g, out, n);
    else {
        struct ud_to to = peer_destination(t, x->q->grh);
        to.qkey = x->q->qkey ? x->q->qkey : to.qkey;
        to.second_qp = x->q->second_qp;
        to.other_partition = x->q->other_partition;
        sent = send_unicast(t, &to, out, n);
    }
    x->sent = t->run->last_sent;
    return sent;
}

void exchange_show(const struct target *t, const struct exchange *x)
{
    results_show(t->results, x->sent, x->received);
}

static void note_received(const struct target *t, struct exchange *e, const char *text)
{
    g_strlcpy(e->received, text, sizeof e->received);
    exchange_show(t, e);
}

enum groups_found exchange_find_groups(struct target *t, const struct pending_request *x,
                                       struct mc_group *g, char *why)
{
    bool there = true;
    enum sa_result result = x->ipv6 && !x->q->echo ? exchange_join_all_nodes(t) : SA_SUCCESS;
    if (result == SA_SUCCESS && x->q->multicast)
        result = exchange_find_group(t, x, g, &there);
    if (result == SA_REJECTED && there)
        snprintf(why, VERDICT_TEXT,
                 "not sent: the SA refuses to join this port to the IPv6 groups: 0x%04x, %s",
                 t->run->sa.status, sa_status_name(t->run->sa.status));
    else if (result == SA_REJECTED)
        snprintf(why, VERDICT_TEXT,
                 "not sent: the solicited-node group of the address does not exist");
    else if (result != SA_SUCCESS)
        snprintf(why, VERDICT_TEXT, "not sent: %s", sa_failure_text(t, result, t->run->sa.status));
    return result == SA_SUCCESS              ? GROUPS_FOUND
           : result == SA_REJECTED && !there ? GROUP_ABSENT
                                             : GROUPS_UNKNOWN;
}

/* After the last try, waits as long as this peer's responses have taken. */
static bool try_once(struct target *t, struct pending_request *x, const struct mc_group *g,
                     bool again, bool last, bool *sent)
{
    bool goes = send_request(t, x, g);
    if (!goes)
        return false;
    *sent = true;
    x->tries++;
    tally_sent(&t->peer->tally);
    if (!x->q->echo) /* its replies have sequence numbers */
        response_times_sent(t, x->ipv6, x->ip, again);
    return receive_await(t, (int)(last ? response_times_wait_ms(t) : t->run->options->timeout_ms),
                         x->q->echo ? echo_take_reply : request_take_response, x);
}

static bool try_often(struct target *t, struct pending_request *x, const struct mc_group *g,
                      unsigned tries, struct exchange *e)
{
    bool sent = false, answered = false;
    unsigned i = 0;
    for (; i < tries && !answered && !target_ended(t); i++) {
        answered = try_once(t, x, g, sent, i + 1 == tries, &sent);
        if (x->q->echo && !answered && i == ANNOUNCED_AFTER)
            responder_announce(t);
    }
    e->outcome = answered ? RESPONSE_RECEIVED : sent ? NO_RESPONSE : NOT_SENT;
    if (!target_ended(t))
        tally_end(&t->peer->tally, sent ? i : 0, answered);
    return answered;
}

/* What a request looks like: requests of one form get the same response. */
static uint64_t form_of(const struct request *q)
{
    unsigned bits = (unsigned)q->multicast | (unsigned)q->grh << 1 | (unsigned)q->named << 2 |
                    (unsigned)q->second_qp << 3;
    return (uint64_t)bits | (uint64_t)q->flags << 8 | (uint64_t)q->reserved << 16 |
           (uint64_t)(q->echo & 0xffff) << 32 | (uint64_t)q->padding << 48;
}

/* Requests with a wrong key must not be answered; other addresses than the target's may not exist.
 */
static void begin_tally(struct target *t, const struct request *q)
{
    if (q->any || q->ip || q->qkey || q->other_partition || q->search)
        tally_begin_uncounted(&t->peer->tally);
    else
        tally_begin(&t->peer->tally, q->echo ? TALLY_ECHO : TALLY_RESOLUTION, form_of(q));
}

/*
 * A reply to the first try, for the other tries leave open which one it answers. The first echo
 * reply includes the time in which the peer resolves the probe's address.
 */
static void note_round_trip(struct target *t, const struct pending_request *x)
{
    bool resolves = x->q->echo && tally_answered(&t->peer->tally, TALLY_ECHO) == 1;
    if (x->tries == 1 && !x->q->any && !x->q->ip && !x->q->search && !resolves)
        times_add(&t->peer->over_ud, x->received - x->sent);
}

/*
 * The sequence number shows which try was replied to: replies to later ones are not awaited. The
 * peer may lose the first echo request of a run, or reply to an address that it remembers.
 */
static void count_echo_reply(struct target *t, const struct pending_request *x)
{
    struct tally *all = &t->peer->tally;
    unsigned later = (uint16_t)(x->sequence - x->replied);
    bool first = tally_answered(all, TALLY_ECHO) == 1;
    tally_forget(all, first ? all->pending - 1 : later);
    tally_response(all);
}

static void note_response(struct target *t, const struct pending_request *x, struct exchange *e)
{
    const struct request *q = x->q;
    char text[VERDICT_TEXT];
    note_round_trip(t, x);
    if (q->echo) {
        count_echo_reply(t, x);
        snprintf(text, sizeof text, "an echo reply of %u bytes", q->echo);
        note_received(t, e, text);
        return;
    }
    response_times_received(t);
    if (!q->any && !q->ip)
        peer_responded(t, t->peer->response_times.first_sent);
    response_text(&e->reply, text, sizeof text);
    note_received(t, e, text);
}

/* Echo replies have sequence numbers: only late responses to a request before them are awaited. */
static bool settle(struct target *t, const struct request *q)
{
    if (!q->echo)
        return response_times_settle(t, q->alone);
    if (t->peer->tally.pending && t->peer->tally.now->kind == TALLY_RESOLUTION)
        response_times_settle(t, false);
    return true;
}

struct exchange exchange_run(struct target *t, const struct request *q, unsigned tries)
{
    struct exchange e = {.outcome = NOT_SENT};
    struct pending_request x = {
        .q = q, .ipv6 = request_is_ipv6(t, q), .ip = q->ip ? q->ip : t->ip, .a = &e.reply};
    struct mc_group g;
    const char *none = q->echo ? "no echo reply" : "no reply";
    char why[VERDICT_TEXT];
    bool settled = settle(t, q);
    g_strlcpy(why, none, sizeof why);
    if (q->echo)
        echo_text(q, e.sent, sizeof e.sent);
    else
        request_text(t, q, e.sent, sizeof e.sent);
    t->unusable = NULL;
    /* each would cost 1.5 s */
    bool hopeless = q->echo && tally_echoes_are_hopeless(&t->peer->tally, ECHOES_OVER_UD);
    note_received(t, &e,
                  !settled   ? "not sent: responses to earlier requests keep arriving"
                  : hopeless ? "not sent: the echo requests before it were not answered"
                             : why);
    if (!settled || hopeless)
        return e;
    begin_tally(t, q);
    enum groups_found groups = exchange_find_groups(t, &x, &g, why);
    e.no_group = groups == GROUP_ABSENT;
    if (groups != GROUPS_FOUND)
        note_received(t, &e, why);
    else if (try_often(t, &x, &g, tries, &e))
        note_response(t, &x, &e);
    else if (t->unusable) {
        t->peer->unusable_echo = q->echo ? t->unusable : t->peer->unusable_echo;
        receive_no_response_text(t, none, why, sizeof why);
        note_received(t, &e, why);
    }
    return e;
}

bool exchange_echo(struct target *t, uint32_t length)
{
    return exchange_run(t, &(struct request){.echo = length}, TRIES).outcome == RESPONSE_RECEIVED;
}

static void await_burst(struct target *t, struct pending_request *x, int ms, unsigned most,
                        unsigned *received)
{
    gint64 end = g_get_monotonic_time() + (gint64)ms * 1000, left;
    while (*received < most && !target_ended(t) && (left = end - g_get_monotonic_time()) > 0)
        if (receive_await(t, (int)((left + 999) / 1000), request_take_response, x)) {
            ++*received;
            tally_response(&t->peer->tally);
        }
}

void exchange_burst(struct target *t, bool multicast, unsigned n)
{
    enum { STEP_MS = 2, BACK_TO_BACK = 8 };
    const struct request q = {.multicast = multicast, .grh = !multicast && t->peer->needs_grh};
    struct mc_group g;
    char why[VERDICT_TEXT];
    struct exchange e = {.outcome = NOT_SENT};
    struct pending_request x = {.q = &q, .ipv6 = t->ipv6, .ip = t->ip, .a = &e.reply};
    unsigned sent = 0, received = 0;
    /* nothing is awaited: a reply that arrives twice is not counted twice */
    bool quiet = !t->peer->tally.pending && !t->peer->response_times.strays;
    if ((!quiet && !settle(t, &q)) || exchange_find_groups(t, &x, &g, why) != GROUPS_FOUND)
        return;
    begin_tally(t, &q);
    for (unsigned i = 0; i < n && !target_ended(t); i++) {
        if (send_request(t, &x, &g)) {
            response_times_sent(t, x.ipv6, x.ip, sent > 0);
            tally_sent(&t->peer->tally);
            sent++;
        }
        if (i + 1 >= BACK_TO_BACK)
            await_burst(t, &x, STEP_MS, sent, &received);
    }
    await_burst(t, &x, (int)response_times_wait_ms(t), sent, &received);
    for (unsigned i = 0; i < received; i++)
        tally_end(&t->peer->tally, 1, true);
}
