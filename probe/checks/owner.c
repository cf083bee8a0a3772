/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about the owner of the target's IP address. See owner.h. */
#include "probe/checks/owner.h"

#include <string.h>

#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/records.h"
#include "probe/exchange/request.h"
#include "probe/link/link.h"
#include "probe/link/send.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/results.h"
#include "probe/run/target.h"
#include "probe/run/text.h"
#include "wire/ip.h"

static bool is_of_peer_or_none(void *user, uint16_t lid, uint32_t qpn)
{
    const struct target *t = user;
    return !lid || (peer_has_lid(t, lid) && peer_has_qpn(t, qpn));
}

static bool is_without_sender(void *user, uint16_t lid, uint32_t qpn)
{
    (void)user;
    (void)qpn;
    return !lid;
}

void owner_sort(struct target *t, bool found)
{
    if (found)
        results_drop(t->results, is_of_peer_or_none, t);
    else if (t->peer->several_senders)
        results_drop(t->results, is_without_sender, NULL);
    results_release(t->results, NULL);
}

enum place { PLACE_SAME, PLACE_CHANGED, PLACE_UNKNOWN };

static void report_changed(struct target *t, const struct owner *before)
{
    char from[OWNER_TEXT], to[OWNER_TEXT];
    const struct owner now = peer_as_owner(t);
    bool gid = memcmp(before->lladdr + LLADDR_GID, now.lladdr + LLADDR_GID, GID_SIZE) != 0;
    owner_text(before, from, sizeof from);
    owner_text(&now, to, sizeof to);
    results_stage(t->results, "peer.changed", OUTCOME_NOTED, "", "%s, from %s to %s",
                  gid ? "the address went to another port"
                  : lladdr_same(before->lladdr, now.lladdr)
                      ? "the peer's LID changed"
                      : "the peer's queue pair changed: its interface was restarted",
                  from, to);
}

/* Forgets what was learnt about the old location. */
static void move_to(struct target *t, const struct owner *w)
{
    struct peer *peer = t->peer;
    const struct owner before = peer_as_owner(t);
    peer_set_location(peer, w);
    peer->has_competing = peer->responds_too = false;
    peer->form = FORM_UNKNOWN;
    peer->cm_unanswered = false;
    g_free(peer->by_unicast);
    peer->by_unicast = NULL;
    wirelog_check(t->log, t->results->known, results_checked, t->results);
    report_changed(t, &before);
}

/* Sends a request to the known location, then one by multicast. sure: a response is evidence. */
static enum place locate(struct target *t, bool sure)
{
    struct peer *peer = t->peer;
    gint64 begin = g_get_monotonic_time();
    unsigned tries = peer->gone ? 1 : TRIES;
    struct request here = {.grh = peer->needs_grh, .alone = sure},
                   group = {.multicast = true, .alone = sure};
    bool same = (!peer->gone && exchange_run(t, &here, tries).outcome == RESPONSE_RECEIVED) ||
                exchange_run(t, &group, tries).outcome == RESPONSE_RECEIVED;
    if (target_ended(t))
        return PLACE_UNKNOWN;
    bool elsewhere = !same && peer->latest.received_at >= begin &&
                     !(peer->responds_too && owner_is_same(&peer->latest, &peer->competing));
    peer->gone = !same && !elsewhere;
    if (elsewhere)
        move_to(t, &peer->latest);
    return same ? PLACE_SAME : elsewhere ? PLACE_CHANGED : PLACE_UNKNOWN;
}

void owner_confirm(struct target *t, gint64 begin)
{
    static const char changed[] = "the peer changed while it was tested: see peer.changed",
                      gone[] = "the peer no longer replies: whether it changed is not known";
    struct results *r = t->results;
    bool fails = results_holds(r, OUTCOME_FAIL);
    bool unanswered = (t->peer->received_at <= begin ||
                       t->peer->received_at < t->peer->response_times.first_sent) &&
                      results_holds(r, OUTCOME_INCONCLUSIVE);
    enum place place = PLACE_SAME;
    if ((fails || unanswered) && !target_ended(t))
        place = locate(t, fails);
    results_release(r, place == PLACE_CHANGED            ? changed
                       : place == PLACE_UNKNOWN && fails ? gone
                                                         : NULL);
}

/* Addresses spread over the peer's /24, or over the interface identifiers of its /64. */
static void choose_unused(struct target *t)
{
    enum { STEP = 83, HOSTS = 254 };
    struct unused_addresses *n = &t->peer->unused;
    const uint8_t *own = t->link->source.given && t->link->source.ipv6 == t->ipv6
                             ? t->link->source.ip
                             : NULL;
    *n = (struct unused_addresses){.n = 0};
    for (unsigned k = 1; n->n < UNUSED_ADDRESSES; k++) {
        uint8_t *ip = n->ip[n->n];
        memcpy(ip, t->ip, sizeof n->ip[0]);
        if (t->ipv6)
            for (unsigned i = 8; i < IPV6_ADDRESS_SIZE; i++)
                ip[i] ^= (uint8_t)(STEP * k + 37 * i);
        else
            ip[3] = (uint8_t)((ip[3] + STEP * k) % HOSTS + 1);
        bool used = memcmp(ip, t->ip, sizeof n->ip[0]) == 0 ||
                    (own && memcmp(ip, own, t->ipv6 ? IPV6_ADDRESS_SIZE : 4) == 0);
        n->n += !used;
    }
}

/*
 * NS are sent to the peer by unicast: the solicited-node group of an unused address does not exist.
 */
static struct request request_unused(const struct target *t, unsigned i)
{
    return (struct request){.multicast = !t->ipv6,
                            .grh = t->peer->needs_grh,
                            .ip = t->peer->unused.ip[i],
                            .ip_version = t->ipv6 ? 6 : 4,
                            .any = true};
}

/* Sends one request for each and does not wait: responses are noted during the whole run. */
void owner_request_unused(struct target *t)
{
    choose_unused(t);
    for (unsigned i = 0; i < UNUSED_ADDRESSES; i++) {
        uint8_t out[UD_SIZE];
        struct request q = request_unused(t, i);
        struct pending_request x = {.q = &q, .ipv6 = t->ipv6, .ip = q.ip};
        uint32_t n = request_make(t, &x, t->link->lladdr, out);
        struct ud_to to = peer_destination(t, q.grh);
        if (q.multicast)
            send_group(t, &t->link->group, out, n);
        else
            send_unicast(t, &to, out, n);
    }
}

enum { ALL_UNUSED = (1u << UNUSED_ADDRESSES) - 1 };

/*
 * If a station responded for some of the addresses, requests the others again, because packets may
 * be lost.
 */
static void request_again(struct target *t)
{
    const struct unused_addresses *n = &t->peer->unused;
    for (unsigned i = 0; i < n->n && !target_ended(t); i++) {
        struct request q = request_unused(t, i);
        if ((n->by_peer && !(n->by_peer >> i & 1)) ||
            (n->by_competing && !(n->by_competing >> i & 1)))
            exchange_run(t, &q, 2);
    }
}

static void report_proxy(struct target *t)
{
    const struct unused_addresses *n = &t->peer->unused;
    char ip[UNUSED_ADDRESSES][48];
    request_again(t);
    if (n->n < UNUSED_ADDRESSES || n->by_peer != ALL_UNUSED)
        return;
    for (unsigned i = 0; i < UNUSED_ADDRESSES; i++)
        text_ip(t->ipv6, n->ip[i], ip[i]);
    results_stage(t->results, "peer.proxy", OUTCOME_NOTED, "",
                  "it replies for %s, %s and %s too, which were chosen at random: a proxy (%s), or "
                  "a host that has many addresses",
                  ip[0], ip[1], ip[2], t->ipv6 ? "RFC 4861 §7.2.8" : "RFC 1027");
}

static void advise_on_flux(struct target *t)
{
    results_advise(t->results, "one host with two ports: %s; two hosts: take the address from one",
                   t->ipv6 ? "only one of its ports may have the address"
                           : "sysctl -w net.ipv4.conf.all.arp_ignore=1 "
                             "net.ipv4.conf.all.arp_announce=2 there");
}

static void report_flux(struct target *t)
{
    static const char advice[] =
        "a host with several ports on the link: set arp_ignore and arp_announce to 1 or 2 there; else two hosts have one address";
    static const char advice6[] = "two hosts have one address: find out which hosts they are";
    const struct peer *peer = t->peer;
    const struct owner own = peer_as_owner(t);
    char one[OWNER_TEXT], other[OWNER_TEXT];
    bool weak = t->ipv6 && (peer->no_override || peer->competing.no_override);
    owner_text(&own, one, sizeof one);
    owner_text(&peer->competing, other, sizeof other);
    char *one_name = records_name_text(t, own.lid),
         *other_name = records_name_text(t, peer->competing.lid);
    results_stage(t->results, "peer.arp-flux",
                  !peer->responds_too ? OUTCOME_INCONCLUSIVE
                  : weak              ? OUTCOME_NOTED
                                      : OUTCOME_FAIL,
                  !peer->responds_too || weak ? ""
                  : t->ipv6                   ? advice6
                                              : advice,
                  "%s%s and %s%s both send as %s: %s%s", one, one_name, other, other_name, t->name,
                  !peer->responds_too ? "whether the address has two owners, or moved, is not known"
                  : weak ? "an anycast address or a proxy, for an NA has no Override flag"
                         : "a duplicate or moving address",
                  peer->unused.by_competing == ALL_UNUSED
                      ? "; the latter is a proxy, it replies for "
                        "also addresses that are not in use"
                      : "");
    if (peer->responds_too && !weak && own.lid && peer->competing.lid)
        advise_on_flux(t);
    g_free(one_name);
    g_free(other_name);
}

void owner_report(struct target *t)
{
    if (t->peer->has_competing && !t->peer->responds_too && !target_ended(t))
        locate(t, true);
    if (!t->yield && !target_ended(t))
        report_proxy(t);
    if (t->peer->has_competing)
        report_flux(t);
}

bool owner_moved(struct target *t)
{
    return locate(t, false) == PLACE_CHANGED;
}
