/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ping_path.h. */
#include "probe/checks/ping_path.h"

#include "probe/exchange/peer.h"
#include "probe/link/hostpath.h"
#include "probe/link/hostroute.h"
#include "probe/link/hostseen.h"
#include "probe/link/link.h"
#include "probe/link/message.h"
#include "probe/link/send.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"

enum ping_path ping_path_look(const struct target *t, const char *interface)
{
    uint16_t lid = host_path_lid(interface, t->peer->lladdr + LLADDR_GID), now = t->peer->lid;
    return !lid || !now                                   ? PATH_UNKNOWN
           : (lid ^ now) >> t->link->transport->facts.lmc ? PATH_OLD
                                                          : PATH_RIGHT;
}

/*
 * An echo request with the kernel's address from the probe's queue pair, to the peer's LID: the
 * reply goes to the kernel's interface, where it is seen. Or the peer asks for the kernel's
 * link-layer address first, which it did not do after the kernel's requests (asked).
 */
static bool is_answered_by_probe(struct target *t, const char *interface, bool asked)
{
    enum { ECHO_BYTES = 84, ID = 0x1b0d, TIMES = 2, WAIT_MS = 150 };
    struct host_route r = host_route_get(t->ipv6, t->ip, interface);
    struct ud_to to = peer_destination(t, t->peer->needs_grh);
    struct host_seen seen;
    uint8_t out[UD_SIZE];
    if (!r.has_source || !transport_can(t->link->transport, CAN_SEND | HAS_OWN_QP))
        return false;
    host_seen_open(&seen, t->ipv6, t->ip, interface);
    for (uint16_t i = 0; i < TIMES && !*t->run->stop; i++) {
        struct echo_message m = {0, ID, i, r.source, t->ip, ECHO_BYTES};
        send_unicast(t, &to, out, t->ipv6 ? message_echo6(out, &m) : message_echo4(out, &m));
        g_usleep((gulong)WAIT_MS * 1000);
    }
    host_seen_close(&seen);
    return seen.echo_replies > 0 || (!asked && seen.peer_requests > 0);
}

static void report(struct target *t, const char *stage, const char *interface, const char *how)
{
    results_stage(t->results, stage, OUTCOME_FAIL, "", "this host's ping is not answered: %s", how);
    results_advise(t->results, "from a console: ip link set %s down; ip link set %s up", interface,
                   interface);
}

bool ping_path_report(struct target *t, const char *stage, const char *interface,
                      enum ping_path path, const struct host_seen *seen)
{
    char *how = NULL;
    if (path == PATH_OLD)
        how = g_strdup_printf("%s has an old path to the peer, to LID %u, and the peer is at LID "
                              "%u",
                              interface, host_path_lid(interface, t->peer->lladdr + LLADDR_GID),
                              t->peer->lid);
    else if (path == PATH_UNKNOWN && t->peer->lid &&
             is_answered_by_probe(t, interface, !seen || seen->peer_requests))
        how = g_strdup_printf("the probe's ping from the same address arrives at LID %u; so %s has "
                              "an old path to the peer, or what it sends is lost on the way",
                              t->peer->lid, interface);
    bool found = how != NULL;
    if (found)
        report(t, stage, interface, how);
    g_free(how);
    return found;
}
