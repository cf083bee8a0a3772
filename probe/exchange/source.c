/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probe's own IP address: duplicate address detection (RFC 5227, RFC 4862). See source.h. */
#include "probe/exchange/source.h"

#include <stdio.h>

#include "hca/mcgroup.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/question.h"
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
    solicited_node(group, t->link->source.ip);
    ipv6_mgid(mgid, t->link->group.scope, t->link->pkey, group);
    if (group_join(t, mgid, JOIN_FULL, true, &g, &status) != SA_TOLD) {
        snprintf(why, size, "its solicited-node group cannot be joined: %s",
                 status ? sa_status_name(status) : "no answer");
        return false;
    }
    if (group_attach(t, &g))
        return true;
    snprintf(why, size, "%s", t->link->transport->error);
    return false;
}

bool source_address_open(struct target *t, char *why, size_t size)
{
    struct question q = {.multicast = true,
                         .ip = t->link->source.ip,
                         .ip_version = t->link->source.ipv6 ? 6 : 4,
                         .any = true};
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
    char who[64];
    if (t->link->source.ipv6 && !join_solicited_node(t, why, size)) {
        return false;
    }
    t->link->source.tentative = true;
    struct exchange x = exchange_run(t, &q, TRIES);
    enum came came = x.outcome;
    t->link->source.tentative = false;
    if (t->link->source.defender[0])
        snprintf(why, size, "the address is in use, by %s", t->link->source.defender);
    else if (came == CAME_ANSWER) {
        lladdr_text(x.reply.lladdr, who);
        snprintf(why, size, "the address is in use, by %s", who);
    } else if (came == NOT_ASKED)
        snprintf(why, size, "whether the address is in use was %s", x.came);
    t->link->source.usable = came == CAME_NOTHING && !t->link->source.defender[0] &&
                             !target_ended(t);
    return t->link->source.usable;
}
