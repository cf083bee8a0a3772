/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ping_seen.h. */
#include "probe/checks/ping_seen.h"

#include "probe/run/results.h"

#define UNANSWERED "the peer replies to the probe, but not to this host's ping: "

/* No host takes such a packet. */
static bool report_type(struct target *t, const char *stage, const char *interface,
                        const struct host_seen *seen)
{
    if (!seen->foreign || seen->echo_replies)
        return false;
    results_stage(t->results, stage, OUTCOME_INCONCLUSIVE, "",
                  UNANSWERED
                  "%u packet%s with the encapsulation type 0x%04x arrived instead, which "
                  "is none of RFC 4391 §6: the peer's driver, or a switch, makes it",
                  seen->foreign, seen->foreign == 1 ? "" : "s", seen->type);
    results_advise(t->results, "tcpdump -n -e -i %s  # while this host pings; on the peer: dmesg",
                   interface);
    return true;
}

static bool report_dropped_reply(struct target *t, const char *stage, const char *interface,
                                 const struct host_seen *seen)
{
    if (!seen->echo_replies)
        return false;
    results_stage(t->results, stage, OUTCOME_FAIL, "",
                  UNANSWERED "its replies arrive at %s, and this host drops them: a filter, "
                             "rp_filter, or wrong checksums",
                  interface);
    results_advise(t->results,
                   "nft list ruleset; tc -s filter show dev %s ingress; sysctl -a | grep "
                   "'\\.rp_filter'; tcpdump -n -v -i %s",
                   interface, interface);
    return true;
}

static bool report_unsent(struct target *t, const char *stage, const char *interface, bool resolved,
                          const struct host_seen *seen)
{
    if (seen->echo_requests || (!resolved && seen->own_requests))
        return false;
    results_stage(t->results, stage, OUTCOME_FAIL, "",
                  UNANSWERED "%s does not leave %s: a filter or a queueing discipline of this host "
                             "drops it",
                  resolved  ? "it"
                  : t->ipv6 ? "its neighbour solicitation"
                            : "its ARP request",
                  interface);
    results_advise(t->results,
                   "nft list ruleset; tc -s qdisc show dev %s; tc -s filter show dev %s egress",
                   interface, interface);
    return true;
}

/* The kernel's requests leave, and the answers arrive: they get no further. */
static bool report_dropped_answer(struct target *t, const char *stage, const char *interface,
                                  bool resolved, const struct host_seen *seen)
{
    if (resolved || !seen->peer_replies)
        return false;
    results_stage(t->results, stage, OUTCOME_FAIL, "",
                  UNANSWERED "the peer's %s arrives at %s, and this host drops it: a filter",
                  t->ipv6 ? "neighbour advertisement" : "ARP reply", interface);
    results_advise(t->results,
                   "nft list ruleset; tc -s filter show dev %s ingress; arptables -L -v",
                   interface);
    return true;
}

/* The probe's requests have no sender's address, and are answered. */
static bool report_unheard(struct target *t, const char *stage, const char *interface,
                           bool resolved, const struct host_seen *seen)
{
    if (resolved || !seen->own_requests || seen->peer_replies || seen->echo_requests)
        return false;
    results_stage(t->results, stage, OUTCOME_INCONCLUSIVE, "",
                  UNANSWERED "this host's %s leave %s, and no answer arrives: the peer ignores "
                             "requests from this host's address (its prefix or route back, "
                             "rp_filter, or a filter), or this one drops its answer before",
                  t->ipv6 ? "neighbour solicitations" : "ARP requests", interface);
    results_advise(t->results,
                   "on the peer: ip -br addr; ip route; sysctl -a | grep '\\.rp_filter'; nft list "
                   "ruleset; here: perfquery; dmesg");
    return true;
}

/* The peer wants to reply, and cannot resolve this host's address. */
static bool report_unanswered(struct target *t, const char *stage, const char *interface,
                              const struct host_seen *seen)
{
    if (!seen->peer_requests || seen->own_replies)
        return false;
    results_stage(t->results, stage, OUTCOME_FAIL, "",
                  UNANSWERED "the peer asks for this host's link-layer address, and this host does "
                             "not answer: %s, or a filter",
                  t->ipv6 ? "the address is of another interface" : "arp_ignore");
    results_advise(t->results, "ip -br addr show %s; nft list ruleset; sysctl -a | grep arp_ignore",
                   interface);
    return true;
}

static bool report_full_table(struct target *t, const char *stage, const struct host_seen *seen)
{
    if (!seen->overflows)
        return false;
    results_stage(t->results, stage, OUTCOME_FAIL, "",
                  UNANSWERED "this host's neighbour table is full: the kernel could not make an "
                             "entry %lu times meanwhile",
                  seen->overflows);
    results_advise(t->results,
                   "ip -s neigh | wc -l; sysctl net.ipv%d.neigh.default.gc_thresh3  # raise it; "
                   "dmesg | grep 'table overflow'",
                   t->ipv6 ? 6 : 4);
    return true;
}

bool ping_seen_report(struct target *t, const char *stage, const char *interface, bool resolved,
                      const struct host_seen *seen)
{
    return report_full_table(t, stage, seen) || report_type(t, stage, interface, seen) ||
           report_dropped_reply(t, stage, interface, seen) ||
           report_unsent(t, stage, interface, resolved, seen) ||
           report_dropped_answer(t, stage, interface, resolved, seen) ||
           report_unheard(t, stage, interface, resolved, seen) ||
           report_unanswered(t, stage, interface, seen);
}
