/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does this host's own ping reach the hosts of a sweep? Each host is asked in its own task, so that
 * all silent ones cost the wait of one. What to report of the silent ones depends on whether any
 * host answers, so they wait for that. See parts.h.
 */
#include "probe/sweep/parts.h"

#include <errno.h>
#include <stdlib.h>

#include "probe/link/choice.h"
#include "probe/link/hostif.h"
#include "probe/link/hostping.h"
#include "probe/link/send.h"
#include "probe/link/sysfs.h"

enum { MOST_HOSTS = 256, REQUESTS = 3, WAIT_MS = 320, FIRST_WAIT_MS = 5, ECHO_HEADER = 8 };

static const char stage[] = "peer.ping", sizes[] = "peer.ping-sizes";

/* The kernel may use another port than the one that the user named. */
void sweep_ping_begin(struct sweep *s)
{
    const struct choice *c = s->link->choice;
    const struct options *o = s->run->options;
    if (!c || c->optional || c->other_route || o->device || o->pkey ||
        !probe_options_select_stage(o, stage))
        return;
    s->interface = host_interface(s->link);
    char *mtu = s->interface ? sysfs_interface(s->interface, "mtu") : NULL;
    s->mtu = mtu ? (uint32_t)strtoul(mtu, NULL, 10) : 0;
    g_free(mtu);
}

void sweep_ping_end(struct sweep *s)
{
    g_free(s->interface);
}

static bool no_match(struct target *t, const struct ud_from *from, void *user)
{
    (void)t;
    (void)from;
    (void)user;
    return false;
}

static void wait_for_rate(struct target *t)
{
    while (rate_wait(t->run) > 0 && !target_ended(t))
        t->yield(t, (int)(rate_wait(t->run) / 1000) + 1, no_match, NULL);
    rate_take(t->run);
}

/* Each wait is twice the one before: most replies come at once. */
static bool await_reply(struct target *t, const struct ping_request *p)
{
    int most = MAX(WAIT_MS, (int)(2 * t->peer->response_times.longest / 1000));
    bool has = false;
    for (int ms = FIRST_WAIT_MS; ms < most && !has && !target_ended(t); ms *= 2) {
        t->yield(t, ms, no_match, NULL);
        has = host_ping_has_reply(p);
    }
    return has;
}

/* This host has no address or route there: nothing is known about the other one. */
static bool is_own_lack(int error)
{
    return error == EADDRNOTAVAIL || error == ENETUNREACH;
}

static enum sweep_ping_result ask(struct host *h, uint32_t data)
{
    struct target *t = &h->target;
    struct ping_request *p = host_ping_open(t->ipv6, t->ip, h->sweep->interface, data);
    enum sweep_ping_result result = p ? PING_SILENT : PING_NOT_SENT;
    for (unsigned i = 0; i < REQUESTS && result == PING_SILENT && !target_ended(t); i++) {
        wait_for_rate(t);
        if (!host_ping_request(p) && is_own_lack(errno))
            result = PING_NOT_SENT;
        else if (await_reply(t, p))
            result = PING_ANSWERED;
    }
    if (p)
        host_ping_end(p);
    return target_ended(t) ? PING_NOT_SENT : result;
}

static bool is_wanted(const struct host *h)
{
    return h->sweep->interface && h->checked.verdict && !h->checked.trouble && h->peer.known &&
           !target_ended(&h->target);
}

static void ask_large(struct host *h)
{
    uint32_t headers = (h->target.ipv6 ? 40 : 20) + ECHO_HEADER;
    bool has_mtu = h->sweep->mtu > headers && h->sweep->mtu <= UINT16_MAX;
    h->ping_large = has_mtu && probe_options_select_stage(h->sweep->run->options, sizes)
                        ? ask(h, h->sweep->mtu - headers)
                        : PING_NOT_SENT;
}

void sweep_ping(struct host *h)
{
    struct sweep_tally *tally = &h->sweep->tallies[h->of];
    if (!is_wanted(h))
        return;
    if (tally->pinged >= MOST_HOSTS) {
        tally->not_pinged++;
        return;
    }
    tally->pinged++;
    h->ping = ask(h, 0);
    h->sweep->any_ping |= h->ping == PING_ANSWERED;
    if (h->ping == PING_ANSWERED)
        ask_large(h);
}

/* Some requests of the probe had no reply either. */
static const char *lost_too(const struct host *h)
{
    return tally_lost(&h->peer.tally) > 1 ? ", and replies to the probe are lost too" : "";
}

void sweep_ping_report(struct host *h, bool by_this_host)
{
    char *advice = g_strdup_printf("ipoib-probe %.*s", target_word(&h->target), h->target.name);
    if (h->ping == PING_SILENT && !by_this_host) {
        h->checked.state = "answers the probe, but not ping";
        results_stage(&h->results, stage, OUTCOME_INCONCLUSIVE, advice,
                      "it replies to the probe, but not to this host's ping%s; see ipoib-probe "
                      "ADDRESS",
                      lost_too(h));
    } else if (h->ping_large == PING_SILENT) {
        results_stage(&h->results, sizes, OUTCOME_INCONCLUSIVE, advice,
                      "it answers this host's ping, but none of %u bytes, the MTU of %s%s; see "
                      "ipoib-probe ADDRESS",
                      h->sweep->mtu, h->sweep->interface, lost_too(h));
    } else if (h->ping == PING_ANSWERED) {
        results_stage(&h->results, stage, OUTCOME_PASS, "", "it answers this host's ping%s",
                      h->ping_large == PING_ANSWERED ? ", also one as large as the MTU" : "");
    }
    g_free(advice);
}

char *sweep_ping_trouble(const struct sweep *s, const struct sweep_tally *t)
{
    return t->none_answers
               ? g_strdup_printf("none of %u hosts that reply to the probe answers this host's "
                                 "ping through %s: this host's own firewall, address or interface; "
                                 "see ipoib-probe ADDRESS, ipoib-probe fabric",
                                 t->silent, s->interface)
               : NULL;
}
