/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks all that may answer, and waits once. See questions.h. */
#include "probe/why/questions.h"

#include <string.h>

#include "hca/records.h"
#include "probe/exchange/cm_answers.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/path_errors.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/receive.h"
#include "probe/exchange/records.h"
#include "probe/exchange/request.h"
#include "probe/link/hostneigh.h"
#include "probe/link/hostping.h"
#include "probe/link/link.h"
#include "probe/link/send.h"
#include "probe/link/sysfs.h"
#include "probe/run/options.h"

/* With three requests of 500 ms before it, the cause comes within 3 s. Milliseconds. */
enum {
    WAIT_MS = 1300,  /* in total */
    FIRST_MS = 400,  /* for replies to the first requests */
    SECOND_MS = 200, /* for replies to the second ones, before the communication manager is asked */
    CM_MS = 500,
    CM_SOON_MS = 300,
};

/* ---- requests */

static const struct request to_group = {.multicast = true, .any = true};
static const struct request to_port = {.grh = true, .any = true};

static void send_question(struct target *t, const struct request *q, bool ipv6, const uint8_t *ip,
                          const struct port_address *to, const struct mc_group *g)
{
    struct pending_request x = {.q = q, .ipv6 = ipv6, .ip = ip};
    uint8_t out[UD_SIZE], lladdr[LLADDR_SIZE];
    memcpy(lladdr, t->link->lladdr, LLADDR_SIZE);
    lladdr[LLADDR_FLAGS] = 0;
    uint32_t n = request_make(t, &x, lladdr, out);
    if (!to) {
        send_group(t, g, out, n);
        return;
    }
    struct ud_to ud = {.lid = to->lid,
                       .sl = to->sl,
                       .hop_limit = 1,
                       .qpn = lladdr_read(to->lladdr).qpn,
                       .qkey = t->link->group.qkey,
                       .grh = true};
    memcpy(ud.gid, to->lladdr + LLADDR_GID, 16);
    send_unicast(t, &ud, out, n);
}

void questions_solicit(struct target *t, const uint8_t *ip, const struct mc_group *g)
{
    send_question(t, &to_group, true, ip, NULL, g);
}

static void ask_peer(struct diagnosis *d)
{
    if (!d->knows_qpn || !d->path || d->replies ||
        !transport_can(d->t->link->transport, CAN_SEND | HAS_OWN_QP))
        return;
    send_question(d->t, &to_port, d->t->ipv6, d->t->ip, &d->at, NULL);
    d->unicast_sent = g_get_monotonic_time();
}

static void ask_cm(struct diagnosis *d, int ms)
{
    if (!d->replies && d->path)
        d->by_cm = cm_answers(d->t, d->at.lladdr, ms);
}

/* ---- other neighbours */

static bool is_target(const struct target *t, const struct host_neighbour *n)
{
    return n->ipv6 == t->ipv6 && memcmp(n->ip, t->ip, n->ipv6 ? 16 : 4) == 0;
}

static void choose_others(struct diagnosis *d)
{
    GArray *all = d->interface ? hostneigh_read(d->interface) : NULL;
    for (guint i = 0; all && i < all->len && d->n_others < OTHERS; i++) {
        const struct host_neighbour *n = &g_array_index(all, struct host_neighbour, i);
        if (n->ipv6 || is_target(d->t, n))
            continue;
        struct other_neighbour *o = &d->others[d->n_others++];
        memcpy(o->ip, n->ip, 4);
        memcpy(o->at.lladdr, n->lladdr, LLADDR_SIZE);
    }
    if (all)
        g_array_unref(all);
}

static void ask_others_by_group(struct diagnosis *d)
{
    for (unsigned i = 0; i < d->n_others; i++)
        send_question(d->t, &to_group, false, d->others[i].ip, NULL, &d->t->link->group);
}

static bool one_replies_to_group(const struct diagnosis *d)
{
    for (unsigned i = 0; i < d->n_others; i++)
        if (d->others[i].by_group)
            return true;
    return false;
}

bool questions_group_reaches_nobody(const struct diagnosis *d)
{
    for (unsigned i = 0; i < d->n_others; i++)
        if (d->others[i].by_unicast)
            return !one_replies_to_group(d);
    return false;
}

static bool find_path(struct target *t, struct port_address *at)
{
    struct sa_response a;
    bool found = records_get_path(t, at->lladdr + LLADDR_GID, &a) == SA_SUCCESS;
    if (found) {
        at->lid = be16(a.records->data + PATH_DLID);
        at->sl = be16(a.records->data + PATH_SL) & 0xf;
    }
    sa_response_clear(&a);
    return found;
}

/* Only if the group reaches none of them. */
static void ask_others_by_unicast(struct diagnosis *d)
{
    if (one_replies_to_group(d) || !transport_can(d->t->link->transport, CAN_QUERY_SA | HAS_OWN_QP))
        return;
    for (unsigned i = 0; i < d->n_others && !target_ended(d->t); i++) {
        struct other_neighbour *o = &d->others[i];
        o->by_unicast_asked = find_path(d->t, &o->at);
        if (o->by_unicast_asked)
            send_question(d->t, &to_port, false, o->ip, &o->at, NULL);
    }
}

/* ---- replies */

static void take_reply_of_other(struct other_neighbour *o)
{
    if (o->by_unicast_asked)
        o->by_unicast = true;
    else
        o->by_group = true;
}

/* Never matches: the wait ends with its time, because a second reply of the peer counts too. */
static bool take_reply(struct target *t, const struct ud_from *from, void *user)
{
    struct diagnosis *d = user;
    struct response a;
    struct pending_request x = {.q = &to_group, .ipv6 = t->ipv6, .ip = t->ip, .a = &a};
    if (request_take_response(t, from, &x) && !d->replies++)
        d->first_reply = g_get_monotonic_time();
    for (unsigned i = 0; i < d->n_others; i++) {
        x.ipv6 = false;
        x.ip = d->others[i].ip;
        if (request_take_response(t, from, &x))
            take_reply_of_other(&d->others[i]);
    }
    return false;
}

static void await_until(struct diagnosis *d, gint64 end)
{
    gint64 left = (end - g_get_monotonic_time()) / 1000;
    if (left > 0)
        receive_await(d->t, (int)left, take_reply, d);
}

static void await_for(struct diagnosis *d, unsigned ms)
{
    await_until(d, g_get_monotonic_time() + (gint64)ms * 1000);
}

unsigned questions_late_ms(const struct diagnosis *d)
{
    return d->replies && !d->by_unicast && !d->few_replies
               ? (unsigned)((d->first_reply - d->t->peer->response_times.first_sent) / 1000)
               : 0;
}

/*
 * An ARP reply does not say which request it answers. The peer got one request by unicast, or a
 * second one because it was silent; so a prompt single reply is the answer to that. A slow peer
 * replies later, or once for each of the requests to the group.
 */
static bool replied_to_unicast(const struct diagnosis *d)
{
    return d->unicast_sent && d->replies == 1 && d->first_reply > d->unicast_sent &&
           d->first_reply - d->unicast_sent < (gint64)FIRST_MS * 1000;
}

bool questions_replies_at(struct diagnosis *d, const uint8_t *lladdr)
{
    struct response a;
    struct pending_request x = {.q = &to_port, .ipv6 = d->t->ipv6, .ip = d->t->ip, .a = &a};
    struct port_address at = {.lid = 0};
    memcpy(at.lladdr, lladdr, LLADDR_SIZE);
    if (!transport_can(d->t->link->transport, CAN_QUERY_SA | HAS_OWN_QP) || !find_path(d->t, &at))
        return false;
    send_question(d->t, &to_port, d->t->ipv6, d->t->ip, &at, NULL);
    return receive_await(d->t, SECOND_MS, request_take_response, &x);
}

/* Are packets to the group lost, or only some packets? */
static void ask_group_again(struct diagnosis *d)
{
    struct mc_group g;
    struct response a;
    struct pending_request x = {.q = &to_group, .ipv6 = d->t->ipv6, .ip = d->t->ip, .a = &a};
    char why[VERDICT_TEXT];
    if (exchange_find_groups(d->t, &x, &g, why) != GROUPS_FOUND)
        return;
    for (unsigned i = 0; i < TRIES && !d->by_group && !target_ended(d->t); i++) {
        send_question(d->t, &to_group, d->t->ipv6, d->t->ip, NULL, &g);
        d->by_group = receive_await(d->t, SECOND_MS, request_take_response, &x);
    }
}

/* By unicast if its queue pair is known. Returns false if nothing could be sent. */
static bool ask_often(struct diagnosis *d, int step_ms)
{
    struct mc_group group;
    struct pending_request x = {.q = &to_group, .ipv6 = d->t->ipv6, .ip = d->t->ip};
    char why[VERDICT_TEXT];
    bool by_unicast = d->knows_qpn && d->path;
    if (!transport_can(d->t->link->transport, CAN_SEND | HAS_OWN_QP) ||
        (!by_unicast && exchange_find_groups(d->t, &x, &group, why) != GROUPS_FOUND))
        return false;
    for (unsigned i = 0; i < OFTEN && !target_ended(d->t); i++) {
        send_question(d->t, by_unicast ? &to_port : &to_group, d->t->ipv6, d->t->ip,
                      by_unicast ? &d->at : NULL, by_unicast ? NULL : &group);
        await_for(d, step_ms);
    }
    return true;
}

/* The replies to many requests; 0: none could be sent either. */
static unsigned count_replies(struct diagnosis *d)
{
    enum { STEP_MS = 10, LAST_MS = 60 };
    unsigned before = d->replies;
    if (!ask_often(d, STEP_MS))
        return 0;
    await_for(d, LAST_MS);
    return d->replies - before;
}

/* It has answered nothing so far: a single reply may be late. */
static void look_for_loss(struct diagnosis *d)
{
    d->few_replies = !d->replies && count_replies(d) > 1;
}

/* It answers unicast: always? Else it is no group that does not reach it. */
static void look_for_loss_of_unicast(struct diagnosis *d)
{
    unsigned n = d->by_unicast && !d->by_group ? count_replies(d) : 0;
    d->few_replies |= n && n < OFTEN * 3 / 4;
}

char *questions_find_damage(struct diagnosis *d, struct path_place *at)
{
    enum { TIMES = 4, STEP_MS = 2 };
    struct path_errors errors;
    if (d->t->yield) /* the targets of a sweep share the path */
        return NULL;
    path_errors_begin(d->t, d->at.lid, &errors);
    for (unsigned i = 0; errors.n && i < TIMES; i++)
        ask_often(d, STEP_MS);
    char *text = path_errors_text(d->t, &errors, at);
    return text ? text : path_errors_unseen(&errors);
}

/*
 * The kernel's route leads there: with -d or --pkey it may lead elsewhere. If it has a neighbour
 * entry it is asked last: without a reply it would forget the entry, which is evidence for the next
 * run too.
 */
static bool asks_kernel(const struct diagnosis *d)
{
    const struct choice *c = d->t->link->choice;
    const struct options *o = d->t->run->options;
    return c && d->interface && !c->other_route && !o->device && !o->pkey;
}

/*
 * Replies to solicitations without an address of the sender go to all nodes (RFC 4861 §7.2.4), so a
 * port to which no group is delivered never gets one. The kernel's own ping needs no group.
 */
static bool asks_kernel_after_all(const struct diagnosis *d)
{
    return d->t->ipv6 && d->known && d->by_cm && !d->replies && asks_kernel(d);
}

/*
 * The link-local address of the known port (RFC 4391 §8), asked by the kernel: does its interface
 * reply at all? NULL: it is the target, or it could not be asked.
 */
static struct ping_request *ask_local(const struct diagnosis *d)
{
    uint8_t ip[16];
    if (!d->known || !d->interface || sysfs_is_connected(d->interface))
        return NULL;
    host_ping_port_address(d->at.lladdr + LLADDR_GID, ip);
    bool is_target_itself = d->t->ipv6 && memcmp(ip, d->t->ip, 16) == 0;
    return is_target_itself ? NULL
                            : host_ping_send_to_port(d->at.lladdr + LLADDR_GID, d->interface);
}

void questions_ask_soon(struct diagnosis *d)
{
    d->asked = true;
    if (d->known && transport_can(d->t->link->transport, CAN_QUERY_SA))
        peer_records_ask(d);
    ask_cm(d, CM_SOON_MS);
}

void questions_ask(struct diagnosis *d)
{
    if (d->asked)
        return;
    d->asked = true;
    if (d->known && transport_can(d->t->link->transport, CAN_QUERY_SA))
        peer_records_ask(d);
    choose_others(d);
    gint64 begin = g_get_monotonic_time(), end = begin + (gint64)WAIT_MS * 1000;
    struct ping_request *ping = !d->known && asks_kernel(d)
                                    ? host_ping_send(d->t->ipv6, d->t->ip, d->interface)
                                    : NULL,
                        *local = ask_local(d);
    ask_others_by_group(d);
    ask_peer(d);
    await_until(d, begin + (gint64)FIRST_MS * 1000);
    ask_others_by_unicast(d);
    ask_peer(d);
    await_until(d, begin + (gint64)(FIRST_MS + SECOND_MS) * 1000);
    look_for_loss(d);
    ask_cm(d, CM_MS);
    if (asks_kernel_after_all(d))
        ping = host_ping_send(true, d->t->ip, d->interface);
    await_until(d, end);
    d->by_unicast = !d->few_replies && replied_to_unicast(d);
    d->by_ping = ping && host_ping_end(ping);
    d->asked_local = local != NULL;
    d->by_local = local && host_ping_end(local);
    if (d->by_unicast || d->by_ping || d->by_cm)
        ask_group_again(d);
    look_for_loss_of_unicast(d);
}
