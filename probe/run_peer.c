/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of a peer, one after the other. */
#include "probe/checks.h"
#include "probe/connection.h"

#include <string.h>

#include "verdict/plain.h"

static void take_over(struct probe *p, const struct answer *a)
{
    memcpy(p->peer.lladdr, a->lladdr, LLADDR_SIZE);
    p->peer.lid = a->lid;
    p->peer.sl = a->sl;
    p->peer.qpn = a->qpn;
    p->peer.known = true;
}

/* Another host, or another of its ports, that answers for the same address (ARP flux). */
struct rivals {
    uint8_t first[LLADDR_SIZE], other[LLADDR_SIZE];
    bool found;
};

static bool take_rival(struct probe *p, const struct ud_from *from, void *user)
{
    struct rivals *r = user;
    enum { REPLY_SENDER = 4 + 8, REPLY_SIZE = 4 + 56 };
    const uint8_t *octets = from->octets.p;
    bool reply = !from->call && from->octets.cap >= REPLY_SIZE && be16(octets) == 0x0806 &&
                 be16(octets + 10) == 2 && memcmp(octets + REPLY_SENDER + LLADDR_SIZE, p->peer.ip, 4) == 0;
    if (!reply || lladdr_same(octets + REPLY_SENDER, r->first))
        return false;
    memcpy(r->other, octets + REPLY_SENDER, LLADDR_SIZE);
    r->found = true;
    return true;
}

enum { FLUX_WAIT_MS = 30 };

static void look_for_rivals(struct probe *p, const struct answer *a)
{
    struct rivals r = {.found = false};
    char one[64], other[64];
    if (p->peer.ipv6)
        return;
    memcpy(r.first, a->lladdr, LLADDR_SIZE);
    await_packet(p, FLUX_WAIT_MS, take_rival, &r);
    if (!r.found)
        return;
    lladdr_text(r.first, one);
    lladdr_text(r.other, other);
    results_stage(
        p->results, "peer.arp-flux", OUTCOME_FAIL,
        "a host with several ports on the link: set arp_ignore and arp_announce to 1 or 2 there; else two hosts have one address",
        "%s and %s both answer", one, other);
}

static const char *why_not(const struct probe *p, const struct check *c)
{
    const char *none = (c->needs & NEEDS_CONNECTIONS) ? connections_none(p) : NULL;
    if (none)
        return none;
    if ((c->needs & NEEDS_DISRUPTIVE) && !p->options->disruptive)
        return "it disturbs: with --disruptive alone";
    if ((c->needs & NEEDS_IPV4) && p->peer.ipv6)
        return "it is asked by ARP: for an IPv4 target";
    if ((c->needs & NEEDS_IPV6) && !p->peer.ipv6)
        return "it is asked by NS: for an IPv6 target";
    if (!(c->needs & NEEDS_SOURCE))
        return NULL;
    if (!p->source.given)
        return "it needs an address for the probe: --source";
    if (p->source.ipv6 != p->peer.ipv6)
        return "the address of --source is not of the target's family";
    return p->source.usable ? NULL : "the address of --source is in use";
}

static void run_check(struct probe *p, const struct check *c)
{
    const char *why = why_not(p, c);
    results_begin(p->results, c->name);
    wirelog_begin(p->log, c->name);
    if (!why)
        c->run(p);
    for (unsigned i = 0; why && i < c->n_rules; i++)
        /* What another check tells of the rule stands; a judge's finding too. */
        results_skip(p->results, c->rules[i], why);
    wirelog_end(p->log, results_outcome(p->results));
}

/* Finds the peer. False: it does not answer. */
static bool resolve(struct probe *p)
{
    struct answer *a = g_new(struct answer, 1);
    results_begin(p->results, "resolve");
    wirelog_begin(p->log, "resolve");
    bool found = ask_peer(p, &(struct question){.multicast = true}, TRIES, a);
    if (found) {
        take_over(p, a);
        look_for_rivals(p, a);
        p->peer.needs_grh = !ask_peer(p, &(struct question){0}, TRIES, a) &&
                            ask_peer(p, &(struct question){.grh = true}, TRIES, a);
    }
    wirelog_end(p->log, found ? "answered" : "no answer");
    g_free(a);
    return found;
}

void run_peer(struct probe *p)
{
    char lladdr[64];
    wirelog_judge(p->log, p->results->known, results_judged, p->results);
    if (!resolve(p)) {
        p->results->judged->trouble =
            p->broken ? plain_dup(p->t->error)
                      : g_strdup_printf("no answer from %s to %d %s, %u ms each", p->peer.name, TRIES,
                                        p->peer.ipv6 ? "neighbour solicitations" : "ARP requests",
                                        p->options->timeout_ms);
    } else {
        lladdr_text(p->peer.lladdr, lladdr);
        results_stage(p->results, "peer.address", OUTCOME_NOTED, "", "%s is at %s, LID %u", p->peer.name,
                      lladdr, p->peer.lid);
        for (unsigned i = 0; i < n_checks && !p->stopped && !p->broken; i++)
            if (check_selected(&checks[i], &p->options->selection))
                run_check(p, &checks[i]);
    }
    if (p->broken && !p->results->judged->trouble)
        p->results->judged->trouble = plain_dup(p->t->error);
    wirelog_judge(p->log, NULL, NULL, NULL);
}
