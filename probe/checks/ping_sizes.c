/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ping_sizes.h. */
#include "probe/checks/ping_sizes.h"

#include <stdlib.h>

#include "probe/exchange/path_mtu.h"
#include "probe/exchange/peer.h"
#include "probe/link/hostclosed.h"
#include "probe/link/hostping.h"
#include "probe/link/hostseen.h"
#include "probe/link/known_faults.h"
#include "probe/link/link.h"
#include "probe/link/sysfs.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/text.h"

static const char stage[] = "peer.ping-sizes";

enum { ECHO_HEADER = 8, PRECISION = 4 };

static uint32_t headers(const struct target *t)
{
    return (t->ipv6 ? 40 : 20) + ECHO_HEADER;
}

/* An IP datagram of that many bytes. */
static bool is_answered(const struct target *t, const char *interface, uint32_t bytes)
{
    int ms = MAX(100, (int)(2 * t->peer->response_times.longest / 1000));
    return host_ping(t->ipv6, t->ip, interface, bytes - headers(t), ms, t->run->stop).answered;
}

/* By bisection. most: is not answered. */
static uint32_t find_largest(const struct target *t, const char *interface, uint32_t most)
{
    uint32_t least = headers(t), link = link_mtu(t->link);
    if (link > least && link < most) { /* larger ones need a connection */
        if (is_answered(t, interface, link))
            least = link;
        else
            most = link;
    }
    while (most - least > PRECISION && !*t->run->stop) {
        uint32_t bytes = least + (most - least) / 2;
        if (is_answered(t, interface, bytes))
            least = bytes;
        else
            most = bytes;
    }
    return least;
}

enum lost_direction { UNKNOWN_DIRECTION, TO_PEER, FROM_PEER };

/*
 * The datagram's error is small whatever its size, so it must be one that arrives. Small datagrams
 * must be refused, before and after, else a filter drops them, somebody listens, or the peer limits
 * its errors.
 */
static enum lost_direction find_direction(const struct target *t, const char *interface,
                                          uint32_t bytes, uint32_t largest)
{
    enum { WAIT_MS = 300, SMALL = 8, TRIES = 2, ERROR4 = 576, ERROR6 = 1280 };
    uint32_t udp = bytes - headers(t); /* its header has 8 bytes too */
    bool fits = largest >= (t->ipv6 ? ERROR6 : ERROR4), large = false,
         small = fits && host_udp_is_refused(t->ipv6, t->ip, interface, SMALL, WAIT_MS);
    for (unsigned i = 0; small && !large && i < TRIES && !*t->run->stop; i++)
        large = host_udp_is_refused(t->ipv6, t->ip, interface, udp, WAIT_MS);
    if (large)
        return FROM_PEER;
    small = small && host_udp_is_refused(t->ipv6, t->ip, interface, SMALL, WAIT_MS);
    return small ? TO_PEER : UNKNOWN_DIRECTION;
}

static const char *const lost[] = {
    [UNKNOWN_DIRECTION] = "larger packets to the peer, or from it, are lost: an MTU, a link on the "
                          "way, or a filter",
    [TO_PEER] = "larger packets to the peer are lost: its MTU is smaller, a filter there drops "
                "them, or a link on the way has a smaller MTU",
    [FROM_PEER] = "larger packets from the peer are lost, those to it arrive: a queue or a filter "
                  "there drops them, or a link on the way has a smaller MTU",
};

/* The large ping never leaves the interface. */
static bool report_unsent(struct target *t, const char *interface, uint32_t bytes, uint32_t largest)
{
    struct host_seen seen;
    host_seen_open(&seen, t->ipv6, t->ip, interface);
    is_answered(t, interface, bytes);
    if (!host_seen_close(&seen) || seen.echo_requests)
        return false;
    results_stage(t->results, stage, OUTCOME_FAIL, "",
                  "this host's ping of %u bytes does not leave %s; up to %u bytes it does: a "
                  "filter or a queueing discipline of this host drops larger packets",
                  bytes, interface, largest);
    results_advise(t->results,
                   "tc -s filter show dev %s egress; tc -s qdisc show dev %s; nft list ruleset",
                   interface, interface);
    return true;
}

static void advise_path(struct target *t)
{
    char *mtus = path_mtu_command(t);
    results_advise(t->results, "on the peer: ip link; tc -s qdisc; nft list ruleset; the links: %s",
                   mtus);
    g_free(mtus);
}

/* bytes: the MTU of that. */
static void report_limit(struct target *t, const char *interface, uint32_t bytes, const char *of)
{
    uint32_t largest = find_largest(t, interface, bytes), link = link_mtu(t->link);
    if (*t->run->stop || report_unsent(t, interface, bytes, largest) || *t->run->stop)
        return;
    bool over_ud = largest == link && bytes > link,
         ndr = known_faults_explain_ndr(t->link, largest);
    enum lost_direction d = find_direction(t, interface, bytes, largest);
    results_stage(t->results, stage, d == UNKNOWN_DIRECTION ? OUTCOME_INCONCLUSIVE : OUTCOME_FAIL,
                  ndr ? KNOWN_NDR_ADVICE : "",
                  "this host's ping of %u bytes, the MTU of %s, is not answered; up to %u bytes it "
                  "is%s: %s%s",
                  bytes, of, largest,
                  over_ud          ? ", the most without a connection (RC)"
                  : largest > link ? ", over a connection (RC)"
                                   : "",
                  ndr ? "this link is NDR, and " KNOWN_NDR " (" KNOWN_NDR_SOURCE "); else: " : "",
                  lost[d]);
    if (ndr)
        return;
    if (over_ud)
        results_advise(t->results, "compare on both hosts: cat /sys/class/net/*/mode; ip link");
    else
        advise_path(t);
}

/*
 * The reply to a ping of the link's MTU or more. Fragments of that MTU are those of a peer in
 * datagram mode; their payload is a multiple of 8 bytes (RFC 791, RFC 8200 §4.5).
 */
static bool has_small_fragments(uint32_t link, const struct host_seen *seen)
{
    enum { UNIT = 8 };
    return seen->fragment && seen->fragment + UNIT <= link;
}

/* A router may have advertised a smaller MTU for IPv6 to all hosts of the link (RFC 4861 §4.6.4).
 */
static uint32_t link_mtu_of_ip(const struct target *t, const char *interface)
{
    uint32_t link = link_mtu(t->link);
    if (!t->ipv6)
        return link;
    char *folder = g_build_filename("/proc/sys/net/ipv6/conf", interface, NULL),
         *text = sysfs_read(folder, "mtu");
    uint32_t advertised = (uint32_t)strtoul(text, NULL, 10);
    g_free(text);
    g_free(folder);
    return advertised ? MIN(link, advertised) : link;
}

/* The large ping is answered. link: the link's MTU; 0: unknown. */
static void report_answered(struct target *t, const char *interface, uint32_t mtu, uint32_t link,
                            const struct host_seen *seen)
{
    if (has_small_fragments(link, seen)) {
        results_stage(t->results, stage, OUTCOME_FAIL, "on the peer: ip link",
                      "the reply to this host's ping of %u bytes comes in fragments of %u: the "
                      "peer's MTU is smaller than that of the link, %u",
                      mtu, seen->fragment, link);
        return;
    }
    bool less = mtu < link;
    char *rest = less ? g_strdup_printf("; the link's is %u", link) : g_strdup("");
    results_stage(t->results, stage, less ? OUTCOME_NOTED : OUTCOME_PASS, "",
                  "this host's ping of %u bytes, the MTU of %s, is answered%s", mtu, interface,
                  rest);
    if (less)
        results_advise(t->results,
                       "ip link set %s mtu %u  # all hosts of the link use the same MTU", interface,
                       link);
    g_free(rest);
}

void ping_sizes_report(struct target *t, const char *interface)
{
    char *text = sysfs_interface(interface, "mtu");
    uint32_t mtu = (uint32_t)strtoul(text, NULL, 10);
    g_free(text);
    if (mtu <= headers(t) || mtu > UINT16_MAX)
        return;
    uint32_t link = link_mtu(t->link), silent = 0;
    struct host_seen seen;
    host_seen_open(&seen, t->ipv6, t->ip, interface);
    bool answered = is_answered(t, interface, mtu);
    host_seen_close(&seen);
    if (!answered)
        silent = mtu;
    else if (link > headers(t) && link < mtu && !is_answered(t, interface, link))
        silent = link; /* its packets are others than those of a larger one */
    if (!silent)
        report_answered(t, interface, mtu, link_mtu_of_ip(t, interface), &seen);
    else if (tally_lost(&t->peer->tally) < 2 && !*t->run->stop) /* else pings are lost too */
        report_limit(t, interface, silent, silent == mtu ? interface : "the link");
}
