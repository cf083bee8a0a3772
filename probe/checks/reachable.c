/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stage for a peer that responds to multicast, but not to unicast requests. See reachable.h. */
#include "probe/checks/reachable.h"

#include <stdio.h>

#include "probe/checks/end.h"
#include "probe/checks/variant.h"
#include "probe/exchange/cm_answers.h"
#include "probe/exchange/echo_request.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/exchange/receive.h"
#include "probe/exchange/switches.h"
#include "probe/link/advice.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

/* A peer that ignores only unicast ARP is still reachable by IP. */
static bool takes_ip(struct target *t)
{
    return t->link->source.usable && t->link->source.ipv6 == t->ipv6 &&
           exchange_echo(t, ECHO_SMALL);
}

static void report_undecided(struct target *t)
{
    char *own = end_own_reason(t);
    results_stage(t->results, "peer.reachable", OUTCOME_INCONCLUSIVE, "", "%s",
                  own ? own : "it replied to a request to the group, and to no request after it");
    g_free(own);
}

/* Queue pair 1 of the port answers, or no unicast arrives there at all. */
static void report_unreachable(struct target *t, const char *from)
{
    enum { CM_MS = 1200 };
    struct port_words w;
    advice_name_port(t->link, &w);
    bool port = *from || cm_answers(t, t->peer->lladdr, CM_MS);
    char *hole = port || !t->peer->lid
                     ? NULL
                     : switches_find_hole(t, t->link->transport->facts.lid, t->peer->lid);
    t->peer->deaf = true;
    t->peer->cut_off = !port;
    t->results->checked->state = "answers the group, but not unicast";
    results_stage(
        t->results, "peer.reachable", OUTCOME_FAIL,
        "IP traffic goes to that QPN too: set the peer's interface down and up; look at "
        "what its queue pair drops",
        "it replies to requests to the group, but not to requests to QPN 0x%06x, which it "
        "announces%s%s%s",
        lladdr_read(t->peer->lladdr).qpn, from,
        hole   ? ": "
        : port ? ""
               : "; its communication manager does not answer either: unicast to its "
                 "port may be lost on the path",
        hole ? hole : "");
    if (hole)
        results_advise(t->results,
                       "ibroute %s LID  # of that switch; let the SM sweep again, or "
                       "restart it",
                       w.diags);
    else if (!port && t->peer->lid)
        results_advise(t->results, "ibtracert %s %u %u; then the peer's interface down and up",
                       w.diags, t->link->transport->facts.lid, t->peer->lid);
    g_free(hole);
}

void reachable_report(struct target *t)
{
    struct exchange x;
    uint32_t announced = lladdr_read(t->peer->lladdr).qpn;
    char from[40] = "";
    enum decision k = variant_try(t, &(struct request){0}, &x);
    k = k == RULE_VIOLATED ? variant_try(t, &(struct request){.grh = true}, &x) : k;
    if (k == RULE_MET || target_ended(t))
        return;
    if (t->peer->qpn && t->peer->qpn != announced)
        snprintf(from, sizeof from, "; it sends from 0x%06x", t->peer->qpn);
    if (k != RULE_VIOLATED)
        report_undecided(t);
    else if (takes_ip(t))
        results_stage(t->results, "peer.reachable", OUTCOME_NOTED, "",
                      "it replies to IP at its QPN, but to no request for its address");
    else
        report_unreachable(t, from);
}
