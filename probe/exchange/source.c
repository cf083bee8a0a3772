/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probe's own IP address: duplicate address detection (RFC 5227, RFC 4862). See source.h. */
#include "probe/exchange/source.h"

#include "cli/fail.h"
#include "hca/mcgroup.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/request.h"
#include "probe/link/groups.h"
#include "probe/link/hostif.h"
#include "probe/link/link.h"
#include "probe/link/message.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/link/hostroute.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "probe/run/text.h"

/* Joins the solicited-node group of the probe's IPv6 address, so that the peer's NS arrive. */
static bool join_solicited_node(struct target *t, GError **error)
{
    uint8_t group[16], mgid[16];
    struct mc_group g;
    uint16_t status = 0;
    message_solicited_node(group, t->link->source.ip);
    message_ipv6_mgid(mgid, t->link->group.scope, t->link->pkey, group);
    enum sa_result result = group_join(t, mgid, JOIN_FULL, true, &g, &status);
    if (result != SA_SUCCESS)
        return fail_with(error, "its solicited-node group cannot be joined: %s",
                         sa_failure_text(t, result, status));
    return group_attach(t, &g) || fail_with(error, "%s", t->link->transport->error);
}

/* Duplicate address detection: is there a response to a request for the address? */
static bool is_unused(struct target *t, GError **error)
{
    struct own_address *s = &t->link->source;
    struct request q = {.multicast = true, .ip = s->ip, .ip_version = s->ipv6 ? 6 : 4, .any = true};
    char who[64];
    s->tentative = true;
    struct exchange x = exchange_run(t, &q, TRIES);
    s->tentative = false;
    if (s->defender[0])
        return fail_with(error, "the address is in use, by %s", s->defender);
    if (x.outcome == RESPONSE_RECEIVED) {
        text_lladdr(x.reply.lladdr, who);
        return fail_with(error, "the address is in use, by %s", who);
    }
    return x.outcome == NO_RESPONSE ||
           fail_with(error, "whether the address is in use was %s", x.received);
}

bool source_address_open(struct target *t, GError **error)
{
    /*
     * Packets that the adapter sends to its own groups may not reach the host's other queue pairs,
     * so the host's interfaces are checked directly.
     */
    char *own = host_has_address(t->link->source.ipv6, t->link->source.ip);
    if (own) {
        fail_with(error, "the address is in use, by this host's %s", own);
        g_free(own);
        return false;
    }
    struct host_route r = host_route_get(t->link->source.ipv6, t->link->source.ip, "");
    if (r.kind == ROUTE_BROADCAST)
        return fail_with(error, "the address is the broadcast address of %s", r.interface);
    if ((t->link->source.ipv6 && !join_solicited_node(t, error)) || !is_unused(t, error))
        return false;
    if (target_ended(t))
        return fail_with(error, "%s", t->run->stopped ? "interrupted" : t->link->transport->error);
    t->link->source.usable = true;
    return true;
}
