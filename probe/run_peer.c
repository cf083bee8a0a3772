/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of a peer, one after the other. */
#include "probe/checks.h"
#include "probe/connection.h"
#include "probe/owner.h"

#include <string.h>

#include "cli/plain.h"

const char interface_shows_less[] =
    "a network interface does not show it: it needs the adapter's ib_uverbs and ib_umad";

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
    gint64 begin = g_get_monotonic_time();
    results_begin(p->results, c->name);
    wirelog_begin(p->log, c->name);
    if (!why) {
        results_hold(p->results);
        c->run(p);
        owner_confirm(p, begin);
    }
    for (unsigned i = 0; why && i < c->n_rules; i++)
        /* What another check tells of the rule stands; a judge's finding too. */
        if (!asked_otherwise(p, c, c->rules[i]))
            results_skip(p->results, c->rules[i], why);
    wirelog_end(p->log, results_outcome(p->results));
}

/* By unicast, in one of the two forms. */
static bool reach(struct probe *p, struct answer *a)
{
    bool plain = ask_peer(p, &(struct question){.alone = true}, TRIES, a) == CAME_ANSWER;
    p->peer.needs_grh = !plain && ask_peer(p, &(struct question){.grh = true, .alone = true}, TRIES,
                                           a) == CAME_ANSWER;
    return plain || p->peer.needs_grh;
}

/* Finds the peer. */
static enum came resolve(struct probe *p, const struct answer *first)
{
    struct answer *a = g_new(struct answer, 1);
    results_begin(p->results, "resolve");
    wirelog_begin(p->log, "resolve");
    results_hold(p->results);
    enum came came = first ? CAME_ANSWER
                           : ask_peer(p, &(struct question){.multicast = true}, TRIES, a);
    if (came == CAME_ANSWER) {
        if (!first)
            owner_take(p, a);
        if (first) { /* when it was asked is not kept */
            patience_asks(p, p->peer.ipv6, p->peer.ip, false);
            patience_hears(p);
        }
        if (!p->host)
            owner_ask_nobody(p);
        if (reach(p, a) || (owner_swap(p) && reach(p, a))) {
            p->peer.by_unicast = g_memdup2(a, sizeof *a);
            owner_settle(p, a);
        }
    }
    owner_sort(p, came == CAME_ANSWER);
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
    owner_tell(p);
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
            "no answer from %s to %d %s, %u ms each%s%s%s", p->peer.name, TRIES,
            p->peer.ipv6 ? "neighbour solicitations" : "ARP requests", p->options->timeout_ms,
            p->unusable ? "; an answer came that has " : "", p->unusable ? p->unusable : "",
            p->peer.several ? "; several ports sent in its name" : "");
    if (p->broken && !p->results->judged->trouble)
        p->results->judged->trouble = plain_dup(p->t->error);
    wirelog_judge(p->log, NULL, NULL, NULL);
    g_free(own);
    g_free(p->peer.by_unicast);
    p->peer.by_unicast = NULL;
}
