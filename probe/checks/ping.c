/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ping.h. */
#include "probe/checks/ping.h"

#include <errno.h>
#include <string.h>

#include "probe/checks/connected.h"
#include "probe/checks/numbers.h"
#include "probe/checks/path_loss.h"
#include "probe/checks/ping_path.h"
#include "probe/checks/ping_sizes.h"
#include "probe/checks/ping_seen.h"
#include "probe/link/advice.h"
#include "probe/link/hostif.h"
#include "probe/link/hostneigh.h"
#include "probe/link/hostping.h"
#include "probe/link/hostroute.h"
#include "probe/link/hostclosed.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/records.h"
#include "probe/link/link.h"
#include "probe/link/sa.h"
#include "probe/link/sysfs.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/text.h"

enum { WAIT_MS = 400 };

static const char stage[] = "peer.ping";

/* For the headline: who reads only this line must not think that all is well. */
#define STATE_NO_PING "answers the probe, but not ping"

/* The address that the kernel sends from; "": unknown. */
static void own_address(const struct target *t, const char *interface, char ip[48])
{
    struct host_route r = host_route_get(t->ipv6, t->ip, interface);
    ip[0] = '\0';
    if (r.has_source)
        text_ip(t->ipv6, r.source, ip);
}

enum others { NO_OTHERS, OTHERS_REPLY, OTHERS_SILENT };

static bool is_target(const struct target *t, const struct host_neighbour *n)
{
    return n->ipv6 == t->ipv6 && memcmp(n->ip, t->ip, t->ipv6 ? 16 : 4) == 0;
}

/* Does the kernel reach other neighbours by ping? */
static enum others ask_others(const struct target *t, const char *interface)
{
    enum { OTHERS = 3 };
    struct ping_request *sent[OTHERS];
    unsigned n = 0, replies = 0;
    GArray *all = hostneigh_read(interface);
    for (guint i = 0; all && i < all->len && n < OTHERS; i++) {
        const struct host_neighbour *one = &g_array_index(all, struct host_neighbour, i);
        if (one->ipv6 == t->ipv6 && !is_target(t, one) &&
            !lladdr_same(one->lladdr, t->peer->lladdr) && /* another address of the peer */
            (sent[n] = host_ping_send(one->ipv6, one->ip, interface)))
            n++;
    }
    if (n)
        g_usleep((gulong)WAIT_MS * 1000);
    for (unsigned i = 0; i < n; i++)
        replies += host_ping_end(sent[i]);
    if (all)
        g_array_unref(all);
    return !n ? NO_OTHERS : replies ? OTHERS_REPLY : OTHERS_SILENT;
}

/* Has the kernel got the peer's link-layer address? */
static bool is_resolved(const struct target *t, const char *interface)
{
    GArray *all = hostneigh_read(interface);
    bool is = !all; /* unknown */
    for (guint i = 0; all && i < all->len; i++)
        is |= is_target(t, &g_array_index(all, struct host_neighbour, i));
    if (all)
        g_array_unref(all);
    return is;
}

/* Both are in connected mode: the kernel sends over a connection. */
static bool uses_connections(const struct target *t, const char *interface)
{
    return sysfs_is_connected(interface) &&
           t->peer->lladdr[LLADDR_FLAGS] & (LLADDR_FLAG_RC | LLADDR_FLAG_UC);
}

/* The peer answers the probe, whose requests have no sender's address; so a filter of IP addresses.
 */
static void report_refused(struct target *t, const char *interface, const char *own)
{
    results_stage(t->results, stage, OUTCOME_INCONCLUSIVE, "",
                  "it replies to the probe, but not to the requests of this host's kernel from %s, "
                  "and other neighbours do: the peer drops what this address sends (rp_filter, its "
                  "route back, a filter)",
                  own);
    results_advise(
        t->results,
        "on the peer: ip route get %s; sysctl -a | grep '\\.rp_filter'; nft list ruleset; "
        "here: nft list ruleset; tc qdisc show dev %s",
        own, interface);
}

/* Not a full neighbour table: then the kernel could not send (ENOBUFS). */
static void report_unresolved(struct target *t, const char *interface)
{
    results_stage(t->results, stage, OUTCOME_INCONCLUSIVE, "",
                  "it replies to the probe, but this host's kernel cannot resolve its address "
                  "through %s: a filter of this host drops %s, the peer drops what this address "
                  "sends, or the interface's own queue pair is broken",
                  interface, t->ipv6 ? "ND" : "ARP");
    results_advise(
        t->results,
        "nft list ruleset; tc -s filter show dev %s ingress; tc -s qdisc show dev %s; "
        "dmesg; if none of these, from a console: ip link set %s down; ip link set %s up",
        interface, interface, interface, interface);
}

/* Packets of both directions arrive, but ICMP does not. */
static bool report_filtered(struct target *t, const char *interface, const char *own)
{
    if (!host_tcp_answers(t->ipv6, t->ip, interface, WAIT_MS))
        return false;
    t->results->checked->state = "reachable, but does not answer ping";
    results_stage(t->results, stage, OUTCOME_INCONCLUSIVE, "",
                  "it answers TCP of this host, but not its ping from %s: a filter, there or here, "
                  "drops ICMP echo",
                  own);
    results_advise(t->results, t->ipv6
                                   ? "on the peer and here: nft list ruleset; on the peer: sysctl "
                                     "net.ipv6.icmp.echo_ignore_all"
                                   : "on the peer and here: nft list ruleset; on the peer: sysctl "
                                     "net.ipv4.icmp_echo_ignore_all");
    return true;
}

/* Both are in connected mode: IP goes over a connection (RFC 4755 §3). */
static bool report_no_connection(struct target *t, const char *interface)
{
    char why[VERDICT_TEXT];
    if (!connected_is_broken(t, why))
        return false;
    results_stage(
        t->results, stage, OUTCOME_INCONCLUSIVE, "",
        "this host's ping is not answered: it goes over a connection (RC), and connections "
        "to the peer do not work: %s",
        why);
    results_advise(
        t->results,
        "on the peer: dmesg; ip -d link show type ipoib; perfquery; without connections, "
        "on both hosts: echo datagram > /sys/class/net/%s/mode",
        interface);
    return true;
}

enum local { LOCAL_UNKNOWN, LOCAL_REPLIES, LOCAL_SILENT };

/* Does the peer's port reply for its link-local address, to that of this host? */
static enum local ask_local(const struct target *t, const char *interface)
{
    uint8_t ip[16];
    host_ping_port_address(t->peer->lladdr + LLADDR_GID, ip);
    bool is_target_itself = t->ipv6 && memcmp(ip, t->ip, sizeof ip) == 0;
    struct ping_request *p = is_target_itself
                                 ? NULL
                                 : host_ping_send_to_port(t->peer->lladdr + LLADDR_GID, interface);
    if (!p)
        return LOCAL_UNKNOWN;
    g_usleep((gulong)WAIT_MS * 1000);
    return host_ping_end(p) ? LOCAL_REPLIES : LOCAL_SILENT;
}

/* Packets of both directions arrive, with the kernel's path: it is about the two addresses. */
#define ABOUT_ADDRESS                                                                              \
    "the peer has no route back to this address here (its prefix; or the address is that of "      \
    "another of its interfaces or partitions), filters the packets (rp_filter), has an old "       \
    "address of this host, or cannot resolve it: packets to the group do not reach this host"

/*
 * The port replies to nothing that it must send to this host by unicast. right: the kernel's path
 * leads to its LID.
 */
static char *silent_port_causes(const struct target *t, bool right)
{
    return g_strdup_printf("; other neighbours reply to it, and the peer's link-local address does "
                           "not: %s%spackets to the group do not reach this host, so that the "
                           "peer cannot resolve its addresses, or the peer filters its packets",
                           right ? "" : "this host has an old path to that port, ",
                           t->ipv6 ? "the peer's unicast is lost, " : "");
}

/* The peer must ask the group for this host's address, unless it has it. Free with g_free(). */
static char *silent_causes(const struct target *t, enum others others, enum local local,
                           enum ping_path path, bool captured)
{
    const char *here = captured ? "" : "this host filters it; or ";
    if (t->peer->announced && !t->peer->asked)
        return g_strdup(", and did not ask for the address of --source either: it has no route "
                        "back (its prefix), or packets to the group do not reach this port, so "
                        "that the peer cannot resolve addresses here");
    if (local == LOCAL_REPLIES)
        return g_strdup(", although its link-local address replies: " ABOUT_ADDRESS);
    if (others == OTHERS_SILENT)
        return g_strdup_printf("; no other neighbour that was asked replies to it either: %s%sthe "
                               "peers filter what this address sends, or have no route back",
                               path == PATH_UNKNOWN ? "this host's paths are old (the SM has "
                                                      "changed LIDs); or "
                                                    : "",
                               here);
    if (local == LOCAL_SILENT && others == OTHERS_REPLY)
        return silent_port_causes(t, path == PATH_RIGHT);
    if (local == LOCAL_SILENT)
        return g_strdup_printf(", and its link-local address is silent too: %sa filter, here or "
                               "there, drops the packets",
                               path == PATH_RIGHT ? ""
                                                  : "this host has an old path to that port, "
                                                    "or ");
    return g_strdup_printf("%s%s" ABOUT_ADDRESS,
                           others == OTHERS_REPLY ? "; other neighbours reply to it: " : ": ",
                           others == OTHERS_REPLY ? "" : here);
}

/* renew: the interface may have an old path. */
static void advise_on_silence(struct target *t, const char *interface, const char *own, bool renew,
                              bool captured)
{
    const char *from = own[0] ? own : "ADDRESS";
    if (renew)
        results_advise(t->results,
                       "on the peer: ip route get %s; ip neigh show %s; nft list ruleset; here: ip "
                       "link set %s down; ip link set %s up",
                       from, from, interface, interface);
    else
        results_advise(t->results,
                       "on the peer: ip route get %s; ip neigh show %s; nft list ruleset; here: "
                       "%sipoib-probe --source FREE_ADDRESS %.*s",
                       from, from, captured ? "" : "nft list ruleset; ", target_word(t), t->name);
}

/* The kernel needs the path for its replies to ARP too; what it sent before waits for it. */
static bool report_no_path_query(struct target *t)
{
    struct sa_response a;
    struct port_words w;
    if (!transport_can(t->link->transport, CAN_QUERY_SA))
        return false;
    enum sa_result result = records_get_path(t, t->peer->lladdr + LLADDR_GID, &a);
    sa_response_clear(&a);
    if (result != SA_BUSY && result != SA_NO_RESPONSE)
        return false;
    advice_name_port(t->link, &w);
    results_stage(t->results, stage, OUTCOME_INCONCLUSIVE, "",
                  "this host's ping is not answered, and the subnet manager (SA) %s, so this "
                  "host's kernel gets no path to the peer",
                  result == SA_BUSY ? "is busy: it answers PathRecord queries with BUSY"
                                    : "does not answer PathRecord queries");
    results_advise(t->results,
                   "test again; then smpquery %s nodedesc %u names the host whose load to check%s",
                   w.diags, t->link->transport->facts.sm_lid,
                   result == SA_BUSY ? "" : "; the log of the subnet manager there");
    return true;
}

/* The kernel's packets follow the GID of the link-layer address. */
static bool report_other_gid(struct target *t)
{
    if (!t->peer->not_at_gid)
        return false;
    results_stage(t->results, stage, OUTCOME_INCONCLUSIVE, "",
                  "this host's ping is not answered: its packets go to the GID that the peer "
                  "announces, and the SA's path to that leads elsewhere, or it has none: a "
                  "consequence of %s",
                  verdict_worst(t->results->checked->verdict, R_RFC4391_9_1_1_GID_OF_PORT) ==
                          OUTCOME_FAIL
                      ? rules[R_RFC4391_9_1_1_GID_OF_PORT].id
                      : "the SA's path");
    return true;
}

/* Several interfaces may share an address: those of a bond. */
static bool has_master(const char *interface)
{
    char *path = g_build_filename("/sys/class/net", interface, "master", NULL);
    bool has = g_file_test(path, G_FILE_TEST_EXISTS);
    g_free(path);
    return has;
}

/* The route may name a source that is in none of the peer's networks. */
static bool report_foreign_source(struct target *t, const char *interface, const char *own)
{
    struct host_route r = host_route_get(t->ipv6, t->ip, interface);
    char *of = r.has_source ? host_has_address(t->ipv6, r.source) : NULL;
    bool foreign = of && strcmp(of, interface) != 0 && !has_master(interface);
    if (foreign) {
        results_stage(t->results, stage, OUTCOME_INCONCLUSIVE, "",
                      "this host's ping is not answered: its route sends from %s, an address of "
                      "%s and not of %s, to which the peer may have no route back",
                      own, of, interface);
        results_advise(t->results,
                       "ip route get %.*s; ip route show dev %s  # its src; on the peer: ip route "
                       "get %s",
                       target_word(t), t->name, interface, own);
    }
    g_free(of);
    return foreign;
}

/* captured: seen has what passed the interface meanwhile. */
static void report_silence(struct target *t, const char *interface, bool captured,
                           const struct host_seen *seen)
{
    char own[48];
    t->results->checked->state = STATE_NO_PING;
    own_address(t, interface, own);
    if (report_no_path_query(t) || report_other_gid(t) ||
        report_foreign_source(t, interface, own) ||
        (captured && ping_seen_report(t, stage, interface, is_resolved(t, interface), seen)))
        return;
    enum others others = ask_others(t, interface);
    const char *from = own[0] ? own : interface;
    if (!is_resolved(t, interface)) {
        if (others == OTHERS_REPLY)
            report_refused(t, interface, from);
        else
            report_unresolved(t, interface);
        return;
    }
    enum ping_path path = ping_path_look(t, interface);
    bool connected = uses_connections(t, interface);
    if ((path == PATH_OLD && ping_path_report(t, stage, interface, path, captured ? seen : NULL)) ||
        (connected && report_no_connection(t, interface)) || report_filtered(t, interface, from) ||
        (!connected && ping_path_report(t, stage, interface, path, captured ? seen : NULL)))
        return;
    enum local local = ask_local(t, interface);
    char *causes = silent_causes(t, others, local, path, captured);
    results_stage(t->results, stage, OUTCOME_INCONCLUSIVE, "",
                  "it replies to the probe, but not to this host's ping from %s%s%s%s%s", from,
                  captured ? ", which leaves this host and brings nothing back" : "",
                  t->peer->no_override
                      ? "; its NAs have no Override flag, as those of a proxy, perhaps "
                        "for a host that is gone"
                      : "",
                  causes,
                  path == PATH_UNKNOWN && others == OTHERS_REPLY && local == LOCAL_UNKNOWN
                      ? "; or this host has an old path to it"
                      : "");
    g_free(causes);
    advise_on_silence(t, interface, own,
                      local != LOCAL_REPLIES && (others == OTHERS_REPLY || local == LOCAL_SILENT),
                      captured);
}

static void report_not_sent(struct target *t, int error, const char *interface)
{
    char ip[48];
    text_ip(t->ipv6, t->ip, ip);
    t->results->checked->state = STATE_NO_PING;
    results_stage(t->results, stage, OUTCOME_FAIL,
                  error == EPERM || error == EACCES ? "nft list ruleset  # this host's own filter"
                                                    : "",
                  "the peer replies to the probe, but this host's kernel cannot send to it: %s",
                  g_strerror(error));
    if (error == ENOBUFS)
        results_advise(t->results,
                       "tc -s filter show dev %s egress; tc -s qdisc show dev %s; dmesg | grep -i "
                       "neigh; sysctl net.ipv%d.neigh.default.gc_thresh3  # does a filter drop it, "
                       "or is the table full?",
                       interface, interface, t->ipv6 ? 6 : 4);
    else if (error != EPERM && error != EACCES)
        results_advise(t->results, "ip route get %s; dmesg", ip);
}

/* The requests of a watch are all alike: those without a reply in a silence were lost perhaps. */
static bool had_silence(const struct target *t)
{
    const struct options *o = t->run->options;
    return (o->count || o->interval) && t->results->checked->requests.never;
}

/* The probe's own packets pass by this host's filters and queueing disciplines. */
static bool report_lost_pings(struct target *t, const char *interface)
{
    enum { PINGS = 12, LOST_MS = 100 };
    unsigned lost = host_ping_count_lost(t->ipv6, t->ip, interface, PINGS, LOST_MS, t->run->stop);
    if (lost < PINGS_LOST_ENOUGH || numbers_is_slow(t))
        return false;
    char *how = g_strdup_printf("this host's ping is answered only sometimes (%u of at most %d had "
                                "no reply)",
                                lost, PINGS);
    bool on_path = path_loss_report_pings(t, stage, how);
    t->results->checked->state = on_path ? "reachable, but packets are lost"
                                         : "reachable, but pings are lost";
    if (on_path) {
        g_free(how);
        return true;
    }
    results_stage(
        t->results, stage, OUTCOME_INCONCLUSIVE, "",
        "%s, and %s a queueing discipline or a filter, here or on the peer, drops packets", how,
        had_silence(t) ? "requests of the probe had no reply either: packets are lost, or"
                       : "no packet of the probe is lost:");
    g_free(how);
    results_advise(t->results,
                   "tc -s qdisc show dev %s; nft list ruleset; on the peer: the same, and sysctl "
                   "%s",
                   interface, t->ipv6 ? "net.ipv6.icmp.ratelimit" : "net.ipv4.icmp_ratelimit");
    return true;
}

static void try_ping(struct target *t, const char *interface)
{
    int wait = MAX(WAIT_MS, (int)(2 * t->peer->response_times.longest / 1000));
    struct host_seen seen;
    host_seen_open(&seen, t->ipv6, t->ip, interface);
    struct host_ping p = host_ping(t->ipv6, t->ip, interface, 0, wait, t->run->stop);
    bool captured = host_seen_close(&seen);
    if (p.answered && tally_lost(&t->peer->tally) < 2 && !t->results->checked->requests.lost &&
        report_lost_pings(t, interface))
        return;
    if (p.answered) {
        results_stage(t->results, stage, OUTCOME_PASS, "",
                      "this host's ping is answered in %.2f ms", p.ms);
        ping_sizes_report(t, interface);
    } else if (p.sent && tally_lost(&t->peer->tally) > 1) /* pings are lost too */
        results_stage(t->results, stage, OUTCOME_INCONCLUSIVE, "",
                      "this host's ping is not answered, and replies to the probe are lost too");
    else if (p.sent && !*t->run->stop)
        report_silence(t, interface, captured, &seen);
    else if (!p.permitted || p.error == EADDRNOTAVAIL) /* no address of that IP version */
        results_stage(t->results, stage, VERDICT_SKIPPED, "", "this host's ping is not sent: %s",
                      g_strerror(p.error));
    else if (!p.sent)
        report_not_sent(t, p.error, interface);
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
