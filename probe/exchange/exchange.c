/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends requests for a link-layer address and waits for the responses. See exchange.h. */
#include "probe/exchange/exchange.h"

#include <stdio.h>
#include <string.h>

#include "hca/mcgroup.h"
#include "probe/exchange/patience.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/question.h"
#include "probe/exchange/receive.h"
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

static const uint8_t all_nodes[16] = {0xff, 0x02, [15] = 1};

/*
 * An NS is sent to the target's solicited-node group, which this port must join first. The SA is
 * queried before the join, because OpenSM logs a join of a missing group as an error.
 */
enum sa_result question_group(struct target *t, const struct asked *x, struct mc_group *g,
                              bool *there)
{
    uint8_t group[16], mgid[16];
    uint16_t status;
    *g = t->link->group;
    *there = true;
    if (!x->ipv6)
        return SA_TOLD;
    solicited_node(group, x->ip);
    ipv6_mgid(mgid, t->link->group.scope, t->link->pkey, group);
    if (!transport_can(t->link->transport, HAS_OWN_QP)) { /* the kernel joins the group */
        memcpy(g->mgid, mgid, 16);
        return SA_TOLD;
    }
    enum sa_result result = group_get(t, mgid, g, &status);
    *there = !group_is_missing(result, status);
    return result == SA_TOLD ? group_join(t, mgid, JOIN_SEND_ONLY_NON, false, g, &status) : result;
}

/* Responses to an NS from the unspecified address are sent to all nodes. */
enum sa_result hear_all_nodes(struct target *t)
{
    uint8_t mgid[16];
    struct mc_group g;
    uint16_t status;
    if (!transport_can(t->link->transport, HAS_OWN_QP))
        return SA_TOLD; /* the interface is in that group, like every IPv6 node */
    ipv6_mgid(mgid, t->link->group.scope, t->link->pkey, all_nodes);
    for (guint i = 0; i < t->link->attached->len; i++)
        if (memcmp(g_array_index(t->link->attached, struct mc_group, i).mgid, mgid, 16) == 0)
            return SA_TOLD;
    enum sa_result result = group_join(t, mgid, JOIN_FULL, false, &g, &status);
    return result == SA_TOLD && !group_attach(t, &g) ? SA_BROKEN : result;
}

static bool send_question(struct target *t, struct asked *x, const struct mc_group *g)
{
    uint8_t out[UD_SIZE], lladdr[LLADDR_SIZE];
    memcpy(lladdr, t->link->lladdr, LLADDR_SIZE);
    lladdr[LLADDR_FLAGS] = x->q->flags;
    uint32_t n = make_question(t, x, lladdr, out);
    bool sent;
    if (x->q->multicast)
        sent = send_group(t, g, out, n);
    else {
        struct ud_to to = to_peer(t, x->q->grh);
        to.qkey = x->q->qkey ? x->q->qkey : to.qkey;
        to.aside = x->q->aside;
        to.stranger = x->q->stranger;
        sent = send_unicast(t, &to, out, n);
    }
    x->sent = g_get_monotonic_time();
    return sent;
}

void exchange_show(const struct target *t, const struct exchange *x)
{
    results_show(t->results, x->sent, x->came);
}

static void note_came(const struct target *t, struct exchange *e, const char *text)
{
    g_strlcpy(e->came, text, sizeof e->came);
    exchange_show(t, e);
}

/*
 * Finds the groups that the request and its response are sent to. Returns false with the reason in
 * why if the request cannot be sent.
 */
static bool find_groups(struct target *t, const struct asked *x, struct mc_group *g, char *why)
{
    bool there = true;
    enum sa_result result = x->ipv6 ? hear_all_nodes(t) : SA_TOLD;
    if (result == SA_TOLD && x->q->multicast)
        result = question_group(t, x, g, &there);
    if (result == SA_REFUSED)
        snprintf(why, VERDICT_TEXT, "not asked: the %s",
                 !there ? "solicited-node group does not exist: nobody has the address"
                        : "subnet administrator refuses that this port joins the groups of IPv6");
    else if (result != SA_TOLD)
        snprintf(why, VERDICT_TEXT, "not asked: %s", sa_silence_text(t, result));
    return result == SA_TOLD;
}

/* After the last try, waits as long as this peer's responses have taken. */
static bool ask_once(struct target *t, struct asked *x, const struct mc_group *g, bool again,
                     bool last, bool *sent)
{
    bool goes = send_question(t, x, g);
    if (!goes)
        return false;
    *sent = true;
    patience_asks(t, x->ipv6, x->ip, again);
    return await_packet(t, (int)(last ? patience_ms(t) : t->run->options->timeout_ms), take_answer,
                        x);
}

static bool ask_often(struct target *t, struct asked *x, const struct mc_group *g, unsigned tries,
                      struct exchange *e)
{
    bool sent = false, answered = false;
    for (unsigned i = 0; i < tries && !answered && !target_ended(t); i++)
        answered = ask_once(t, x, g, sent, i + 1 == tries, &sent);
    e->outcome = answered ? CAME_ANSWER : sent ? CAME_NOTHING : NOT_ASKED;
    return answered;
}

static void note_answer(struct target *t, const struct question *q, struct exchange *e)
{
    char text[VERDICT_TEXT];
    patience_hears(t);
    if (!q->any && !q->ip)
        owner_answered(t, t->peer->patience.first_sent);
    answer_text(&e->reply, text, sizeof text);
    note_came(t, e, text);
}

struct exchange exchange_run(struct target *t, const struct question *q, unsigned tries)
{
    struct exchange e = {.outcome = NOT_ASKED};
    struct asked x = {.q = q, .ipv6 = asks_ipv6(t, q), .ip = q->ip ? q->ip : t->ip, .a = &e.reply};
    struct mc_group g;
    char why[VERDICT_TEXT] = "no answer";
    bool settled = patience_settle(t, q->alone);
    question_text(t, q, e.sent, sizeof e.sent);
    t->unusable = NULL;
    note_came(t, &e, settled ? why : "not asked: answers to earlier questions do not end");
    if (!settled)
        return e;
    if (!find_groups(t, &x, &g, why))
        note_came(t, &e, why);
    else if (ask_often(t, &x, &g, tries, &e))
        note_answer(t, q, &e);
    else if (t->unusable) {
        none_came_text(t, "no answer", why, sizeof why);
        note_came(t, &e, why);
    }
    return e;
}
