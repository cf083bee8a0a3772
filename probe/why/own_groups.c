/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Are packets to groups delivered to this port? A reply to a solicitation without an address of the
 * sender goes to all nodes (RFC 4861 §7.2.4), whoever sends it.
 */
#include <string.h>

#include "probe/exchange/exchange.h"
#include "probe/exchange/receive.h"
#include "probe/exchange/records.h"
#include "probe/exchange/request.h"
#include "probe/link/advice.h"
#include "probe/link/hostping.h"
#include "probe/link/transport.h"
#include "probe/why/questions.h"

enum { WAIT_MS = 200 };

static const struct request to_group = {.multicast = true, .any = true};

struct advertisers {
    unsigned n;
    uint8_t ip[OTHERS][16];
    bool heard;
};

static bool take_advertisement(struct target *t, const struct ud_from *from, void *user)
{
    struct advertisers *a = user;
    struct response response;
    struct pending_request x = {.q = &to_group, .ipv6 = true, .a = &response};
    for (unsigned i = 0; i < a->n && !a->heard; i++) {
        x.ip = a->ip[i];
        a->heard = request_take_response(t, from, &x);
    }
    return a->heard;
}

/* Its link-local address; false if its port has no such group: IPv6 may be off there. */
static bool solicit(struct target *t, const struct other_neighbour *o, uint8_t *ip)
{
    struct mc_group g;
    char why[VERDICT_TEXT];
    struct pending_request x = {.q = &to_group, .ipv6 = true, .ip = ip};
    host_ping_port_address(o->at.lladdr + LLADDR_GID, ip);
    if (exchange_find_groups(t, &x, &g, why) != GROUPS_FOUND)
        return false;
    questions_solicit(t, ip, &g);
    return true;
}

static void solicit_all(struct diagnosis *d, struct advertisers *a)
{
    a->n = 0;
    for (unsigned i = 0; i < d->n_others && !target_ended(d->t); i++)
        if (d->others[i].by_group && solicit(d->t, &d->others[i], a->ip[a->n]))
            a->n++;
}

/* Hosts that reply to ARP by unicast, and whose advertisements to all nodes do not arrive. */
bool why_groups_not_delivered(struct diagnosis *d)
{
    struct advertisers a = {0};
    questions_ask(d);
    if (!d->t->ipv6 || d->replies)
        return false;
    for (unsigned i = 0; i < TRIES && !a.heard && !target_ended(d->t); i++) {
        solicit_all(d, &a);
        if (!a.n)
            return false;
        receive_await(d->t, WAIT_MS, take_advertisement, &a);
    }
    uint16_t own = d->t->link->transport->facts.lid;
    return !a.heard && !target_ended(d->t) &&
           diagnosis_holds(
               d,
               g_strdup_printf("%u other host%s to ARP, by unicast, and %s advertisements to all "
                               "nodes do not arrive here, as the target's would",
                               a.n, a.n == 1 ? " replies" : "s reply", a.n == 1 ? "its" : "their"),
               advice_look_at_multicast(d->t->link, exchange_all_nodes_mlid(d->t),
                                        records_get_switch_lid(d->t, own), own));
}
