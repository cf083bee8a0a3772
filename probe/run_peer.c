/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of a peer, one after the other. */
#include "probe/checks.h"
#include "probe/connection.h"

#include <string.h>

#include "cli/plain.h"

const char interface_shows_less[] =
    "a network interface does not show it: it needs the adapter's ib_uverbs and ib_umad";

static void take_over(struct probe *p, const struct answer *a)
{
    memcpy(p->peer.lladdr, a->lladdr, LLADDR_SIZE);
    p->peer.lid = a->lid;
    p->peer.sl = a->sl;
    p->peer.qpn = a->qpn;
    p->peer.known = true;
}

/* Another host, or another of its ports, that answers for the same address (ARP flux). */
static void take_rival(struct probe *p, const struct answer *a)
{
    if (p->peer.has_rival || !p->peer.known || lladdr_same(a->lladdr, p->peer.lladdr))
        return;
    memcpy(p->peer.rival, a->lladdr, LLADDR_SIZE);
    p->peer.has_rival = true;
}

static bool hear_rival(struct probe *p, const struct ud_from *from, void *user)
{
    struct asked *x = user;
    if (!take_answer(p, from, x))
        return false;
    take_rival(p, x->a);
    if (!p->peer.has_rival)
        patience_hears_stray(p);
    return p->peer.has_rival;
}

enum { FLUX_WAIT_MS = 30 };

bool find_rival(struct probe *p)
{
    struct answer *a = g_new(struct answer, 1);
    struct question q = {.multicast = true, .any = true};
    struct asked x = {.q = &q, .ipv6 = p->peer.ipv6, .ip = p->peer.ip, .a = a};
    if (!p->peer.has_rival)
        await_packet(p, FLUX_WAIT_MS, hear_rival, &x);
    g_free(a);
    return p->peer.has_rival;
}

static void look_for_rivals(struct probe *p)
{
    char one[64], other[64];
    if (!find_rival(p))
        return;
    lladdr_text(p->peer.lladdr, one);
    lladdr_text(p->peer.rival, other);
    results_stage(
        p->results, "peer.arp-flux", OUTCOME_FAIL,
        "a host with several ports on the link: set arp_ignore and arp_announce to 1 or 2 there; else two hosts have one address",
        "%s and %s both answer", one, other);
}

static const char *why_not(const struct probe *p, const struct check *c)
{
    if ((c->needs & NEEDS_ADAPTER) && p->t->netdev[0])
        return interface_shows_less;
    if ((c->needs & NEEDS_CONNECTIONS) && p->host)
        return "no connections are made in a sweep: name the address";
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
    if (p->t->netdev[0])
        return "through a network interface the probe has no address of its own: it needs ib_uverbs and ib_umad";
    if (!p->source.given)
        return "it needs an address for the probe: --source";
    if (p->source.ipv6 != p->peer.ipv6)
        return "the address of --source is not of the target's family";
    return p->source.usable ? NULL
                            : "the address of --source is in use, or nobody could be asked for it";
}

static bool of_family(const struct probe *p, const struct check *c)
{
    return !(c->needs & (p->peer.ipv6 ? NEEDS_IPV4 : NEEDS_IPV6));
}

/* What ARP shows of an IPv4 peer and NS of an IPv6 peer is no check left out. */
static bool asked_otherwise(const struct probe *p, const struct check *c, enum rule_number rule)
{
    for (unsigned i = 0; !of_family(p, c) && i < n_checks; i++)
        for (unsigned k = 0; k < checks[i].n_rules; k++)
            if (checks[i].rules[k] == rule && of_family(p, &checks[i]))
                return true;
    return false;
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
        if (!asked_otherwise(p, c, c->rules[i]))
            results_skip(p->results, c->rules[i], why);
    wirelog_end(p->log, results_outcome(p->results));
}

/* Finds the peer. */
static enum came resolve(struct probe *p, const struct answer *first)
{
    struct answer *a = g_new(struct answer, 1);
    results_begin(p->results, "resolve");
    wirelog_begin(p->log, "resolve");
    enum came came = first ? CAME_ANSWER
                           : ask_peer(p, &(struct question){.multicast = true}, TRIES, a);
    if (came == CAME_ANSWER) {
        take_over(p, first ? first : a);
        if (first) { /* when it was asked is not kept */
            patience_asks(p, p->peer.ipv6, p->peer.ip, false);
            patience_hears(p);
        }
        look_for_rivals(p);
        bool plain = ask_peer(p, &(struct question){.alone = true}, TRIES, a) == CAME_ANSWER;
        p->peer.needs_grh = !plain && ask_peer(p, &(struct question){.grh = true, .alone = true},
                                               TRIES, a) == CAME_ANSWER;
        if (plain || p->peer.needs_grh)
            p->peer.by_unicast = g_memdup2(a, sizeof *a);
    }
    wirelog_end(p->log, came == CAME_ANSWER    ? "answered"
                        : came == CAME_NOTHING ? "no answer"
                                               : "not asked");
    g_free(a);
    return came;
}

static void run_checks(struct probe *p)
{
    char lladdr[64];
    lladdr_text(p->peer.lladdr, lladdr);
    if (p->peer.lid)
        results_stage(p->results, "peer.address", OUTCOME_NOTED, "", "%s is at %s, LID %u",
                      p->peer.name, lladdr, p->peer.lid);
    else
        results_stage(p->results, "peer.address", OUTCOME_NOTED, "", "%s is at %s, seen through %s",
                      p->peer.name, lladdr, p->t->netdev);
    if (!p->peer.by_unicast)
        tell_unreachable(p);
    for (unsigned i = 0; i < n_checks && !p->stopped && !p->broken; i++)
        if (check_selected(&checks[i], &p->options->selection))
            run_check(p, &checks[i]);
}

void run_peer(struct probe *p, const struct answer *first)
{
    if (!first)
        wirelog_judge(p->log, p->results->known, results_judged, p->results);
    enum came came = resolve(p, first);
    char *own = NULL;
    if (came == CAME_ANSWER)
        run_checks(p);
    else if (came == NOT_ASKED && !p->broken)
        p->results->judged->trouble = g_strdup_printf("%s: %s", p->peer.name, p->results->came);
    else if (!p->broken && (own = host_has_address(p->peer.ipv6, p->peer.ip)))
        p->results->judged->trouble = g_strdup_printf(OWN_ADDRESS, own);
    else if (!p->broken)
        p->results->judged->trouble = g_strdup_printf(
            "no answer from %s to %d %s, %u ms each%s%s", p->peer.name, TRIES,
            p->peer.ipv6 ? "neighbour solicitations" : "ARP requests", p->options->timeout_ms,
            p->unusable ? "; an answer came that has " : "", p->unusable ? p->unusable : "");
    if (p->broken && !p->results->judged->trouble)
        p->results->judged->trouble = plain_dup(p->t->error);
    wirelog_judge(p->log, NULL, NULL, NULL);
    g_free(own);
    g_free(p->peer.by_unicast);
    p->peer.by_unicast = NULL;
}
