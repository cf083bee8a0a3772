/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See own_duplicate.h. */
#include "probe/checks/own_duplicate.h"

#include <string.h>

#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/records.h"
#include "probe/exchange/request.h"
#include "probe/link/hostif.h"
#include "probe/link/hostroute.h"
#include "probe/link/link.h"
#include "probe/link/send.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/text.h"
#include "wire/ip.h"

/* The address that the kernel sends from to the target. If it is the target's, owner.c looks. */
static bool find_own(const struct target *t, struct own_request *own)
{
    char *interface = host_interface(t->link);
    struct host_route r = {.has_source = false};
    if (interface)
        r = host_route_get(t->ipv6, t->ip, interface);
    if (r.has_source)
        memcpy(own->ip, r.source, sizeof own->ip);
    g_free(interface);
    return r.has_source && memcmp(own->ip, t->ip, t->ipv6 ? IPV6_ADDRESS_SIZE : 4) != 0;
}

void own_duplicate_request(struct target *t)
{
    struct own_request *own = &t->peer->own;
    const struct choice *c = t->link->choice;
    static const struct request q = {.multicast = true, .any = true, .foreign = true};
    struct pending_request x = {.q = &q, .ipv6 = t->ipv6, .ip = own->ip};
    struct mc_group group;
    char why[VERDICT_TEXT];
    uint8_t out[UD_SIZE];
    if (!c || c->other_route || !find_own(t, own) ||
        exchange_find_groups(t, &x, &group, why) != GROUPS_FOUND)
        return;
    own->sent = send_group(t, &group, out, request_make(t, &x, t->link->lladdr, out));
}

void own_duplicate_report(struct target *t)
{
    const struct own_request *own = &t->peer->own;
    char ip[48], text[OWNER_TEXT];
    if (!own->taken)
        return;
    text_ip(t->ipv6, own->ip, ip);
    owner_text(&own->by, text, sizeof text);
    char *name = records_name_text(t, own->by.lid);
    results_stage(t->results, "peer.own-duplicate", OUTCOME_FAIL, "",
                  "%s, from which this host sends, is announced by %s too%s: it takes some of the "
                  "replies",
                  ip, text, name);
    results_advise(t->results,
                   "two hosts have one address: take it from one of them; ip addr show to %s", ip);
    g_free(name);
}
