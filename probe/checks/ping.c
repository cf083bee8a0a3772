/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ping.h. */
#include "probe/checks/ping.h"

#include <errno.h>
#include <string.h>

#include "probe/link/hostif.h"
#include "probe/link/hostneigh.h"
#include "probe/link/hostping.h"
#include "probe/link/hostroute.h"
#include "probe/exchange/peer.h"
#include "probe/link/link.h"
#include "probe/link/sysfs.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/text.h"

enum { WAIT_MS = 400 };

static const char stage[] = "peer.ping";

/* The address that the kernel sends from; "": unknown. */
static void own_address(const struct target *t, const char *interface, char ip[48])
{
    struct host_route r = host_route_get(t->ipv6, t->ip, interface);
    ip[0] = '\0';
    if (r.has_source)
        text_ip(t->ipv6, r.source, ip);
}

/* Has the kernel got the peer's link-layer address? */
static bool is_resolved(const struct target *t, const char *interface)
{
    GArray *all = hostneigh_read(interface);
    bool is = !all; /* unknown */
    for (guint i = 0; all && i < all->len; i++) {
        const struct host_neighbour *n = &g_array_index(all, struct host_neighbour, i);
        is |= n->ipv6 == t->ipv6 && memcmp(n->ip, t->ip, t->ipv6 ? 16 : 4) == 0;
    }
    if (all)
        g_array_unref(all);
    return is;
}

/* Both are in connected mode: IP goes over a connection (RFC 4755 §3). */
static bool uses_connections(const struct target *t, const char *interface)
{
    char *mode = sysfs_interface(interface, "mode");
    bool connected = strcmp(mode, "connected") == 0 &&
                     t->peer->lladdr[LLADDR_FLAGS] & (LLADDR_FLAG_RC | LLADDR_FLAG_UC);
    g_free(mode);
    return connected;
}

static void report_unresolved(struct target *t, const char *interface)
{
    results_stage(t->results, stage, OUTCOME_INCONCLUSIVE, "",
                  "it replies to the probe, but this host's kernel cannot resolve its address "
                  "through %s: packets of the interface's own queue pair do not leave or arrive",
                  interface);
    results_advise(
        t->results,
        "nft list ruleset; tc qdisc show dev %s; dmesg; ip link set %s down; ip link set "
        "%s up",
        interface, interface, interface);
}

static void report_silence(struct target *t, const char *interface)
{
    char own[48];
    if (!is_resolved(t, interface)) {
        report_unresolved(t, interface);
        return;
    }
    own_address(t, interface, own);
    bool connected = uses_connections(t, interface);
    results_stage(
        t->results, stage, OUTCOME_INCONCLUSIVE, "",
        "it replies to the probe, but not to this host's ping from %s: this host filters "
        "it; the peer drops ICMP echo, has no route back, or an old address of this host%s",
        own[0] ? own : interface, connected ? "; or their connection (RC) does not work" : "");
    results_advise(t->results,
                   "nft list ruleset; tc -s qdisc show dev %s; on the peer: ip route get %s; ip "
                   "neigh show %s%s",
                   interface, own[0] ? own : "ADDRESS", own[0] ? own : "",
                   connected ? "; ipoib-probe --source ADDRESS tests RC" : "");
}

static void report_not_sent(struct target *t, int error)
{
    results_stage(t->results, stage, OUTCOME_FAIL,
                  error == ENOBUFS
                      ? "dmesg | grep -i neigh; sysctl net.ipv4.neigh.default.gc_thresh3 "
                        "net.ipv6.neigh.default.gc_thresh3  # is the table full?"
                  : error == EPERM || error == EACCES ? "nft list ruleset  # this host's own filter"
                                                      : "ip route get ADDRESS; dmesg",
                  "the peer replies to the probe, but this host's kernel cannot send to it: %s",
                  g_strerror(error));
}

static void try_ping(struct target *t, const char *interface)
{
    int wait = MAX(WAIT_MS, (int)(2 * t->peer->response_times.longest / 1000));
    struct host_ping p = host_ping(t->ipv6, t->ip, interface, wait, t->run->stop);
    if (p.answered)
        results_stage(t->results, stage, OUTCOME_PASS, "",
                      "this host's ping is answered in %.2f ms", p.ms);
    else if (p.sent && tally_lost(&t->peer->tally) > 1) /* pings are lost too */
        results_stage(t->results, stage, OUTCOME_INCONCLUSIVE, "",
                      "this host's ping is not answered, and replies to the probe are lost too");
    else if (p.sent && !*t->run->stop)
        report_silence(t, interface);
    else if (!p.permitted || p.error == EADDRNOTAVAIL) /* no address of that IP version */
        results_stage(t->results, stage, VERDICT_SKIPPED, "", "this host's ping is not sent: %s",
                      g_strerror(p.error));
    else if (!p.sent)
        report_not_sent(t, p.error);
}

void ping_report(struct target *t)
{
    const struct choice *c = t->link->choice;
    const struct options *o = t->run->options;
    if (!c || c->optional || c->other_route || o->device || o->pkey || t->yield)
        return;
    char *interface = host_interface(t->link);
    if (interface && !target_ended(t))
        try_ping(t, interface);
    g_free(interface);
}
