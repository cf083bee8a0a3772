/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probe's own IP address: duplicate address detection (RFC 5227, RFC 4862). See source.h. */
#include "probe/exchange/source.h"

#include <stdio.h>

#include "hca/mcgroup.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/request.h"
#include "probe/link/groups.h"
#include "probe/link/hostif.h"
#include "probe/link/link.h"
#include "probe/link/message.h"
#include "probe/link/transport.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "probe/run/text.h"

/* Joins the solicited-node group of the probe's IPv6 address, so that the peer's NS arrive. */
static bool join_solicited_node(struct target *t, char *why, size_t size)
{
    uint8_t group[16], mgid[16];
    struct mc_group g;
    uint16_t status = 0;
    message_solicited_node(group, t->link->source.ip);
    message_ipv6_mgid(mgid, t->link->group.scope, t->link->pkey, group);
    if (group_join(t, mgid, JOIN_FULL, true, &g, &status) != SA_SUCCESS) {
        snprintf(why, size, "its solicited-node group cannot be joined: %s",
                 status ? sa_status_name(status) : "the SA did not answer");
        return false;
    }
    if (group_attach(t, &g))
        return true;
    snprintf(why, size, "%s", t->link->transport->error);
    return false;
}

/* Duplicate address detection: is there a response to a request for the address? */
static bool is_unused(struct target *t, char *why, size_t size)
{
    struct source *s = &t->link->source;
    struct request q = {.multicast = true, .ip = s->ip, .ip_version = s->ipv6 ? 6 : 4, .any = true};
    char who[64];
    s->tentative = true;
    struct exchange x = exchange_run(t, &q, TRIES);
    s->tentative = false;
    if (s->defender[0])
        snprintf(why, size, "the address is in use, by %s", s->defender);
    else if (x.outcome == RESPONSE_RECEIVED) {
        text_lladdr(x.reply.lladdr, who);
        snprintf(why, size, "the address is in use, by %s", who);
    } else if (x.outcome == NOT_SENT)
        snprintf(why, size, "whether the address is in use was %s", x.received);
    return x.outcome == NO_RESPONSE && !s->defender[0];
}

bool source_address_open(struct target *t, char *why, size_t size)
{
    /*
     * Packets that the adapter sends to its own groups may not reach the host's other queue pairs,
     * so the host's interfaces are checked directly.
     */
    char *own = host_has_address(t->link->source.ipv6, t->link->source.ip);
    if (own) {
        snprintf(why, size, "the address is in use, by this host's %s", own);
        g_free(own);
        return false;
    }
    if (t->link->source.ipv6 && !join_solicited_node(t, why, size))
        return false;
    t->link->source.usable = is_unused(t, why, size) && !target_ended(t);
    return t->link->source.usable;
}
