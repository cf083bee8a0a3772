/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who has the peer's IP address? See owner.h. */
#include "probe/traffic.h"
#include "probe/owner.h"

#include <stdio.h>
#include <string.h>

#include "probe/usable.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/ip.h"
#include "wire/nd.h"

/* ---- words */

void owner_text(const struct owner *w, char *out, size_t size)
{
    char octets[64], gid[48], lid[16] = "", sender[40] = "";
    uint32_t qpn = lladdr_read(w->lladdr).qpn;
    lladdr_text(w->lladdr, octets);
    ip_text(true, w->lladdr + LLADDR_GID, gid);
    if (w->lid)
        snprintf(lid, sizeof lid, ", LID %u", w->lid);
    if (w->lid && w->qpn != qpn)
        snprintf(sender, sizeof sender, ", sent by QPN 0x%06x", w->qpn);
    snprintf(out, size, "%s (QPN 0x%06x, GID %s%s%s)", octets, qpn, gid, lid, sender);
}

static struct owner peer_as_owner(const struct target *t)
{
    struct owner w = {.lid = t->peer->lid, .sl = t->peer->sl, .qpn = t->peer->qpn};
    memcpy(w.lladdr, t->peer->lladdr, LLADDR_SIZE);
    return w;
}

/* ---- claims: who announces which IP address */

struct claim {
    bool ipv6;
    const uint8_t *ip, *lladdr;
    bool weak;   /* an NA without the Override flag */
    bool answer; /* an ARP reply or an NA: the sender can be reached there */
};

/* RFC 5227 §2.4: the sender of any ARP message, a request too. */
static bool read_arp(struct view v, struct claim *c)
{
    struct arp a;
    bool fixed;
    if (arp_decode(v, &a, &fixed) != WIRE_OK || a.hln != LLADDR_SIZE || a.pln != 4 ||
        (a.op != ARP_REQUEST && a.op != ARP_REPLY))
        return false;
    *c = (struct claim){.ip = v.p + a.spa, .lladdr = v.p + a.sha, .answer = a.op == ARP_REPLY};
    return true;
}

/* RFC 4861 §7.2.3 and §7.2.5: the target of an NA, and the sender of an NS. */
static bool read_nd(struct view ip, struct claim *c)
{
    enum { OVERRIDE = 0x20 };
    struct view nd;
    if (!nd_in_ipv6(ip, &nd) || nd.cap < ND_TARGET + IPV6_ADDRESS_SIZE ||
        (nd.p[0] != ND_NA && nd.p[0] != ND_NS) || why_host_drops(ip))
        return false;
    bool na = nd.p[0] == ND_NA;
    *c = (struct claim){.ipv6 = true,
                        .ip = na ? nd.p + ND_TARGET : ip.p + IPV6_SOURCE,
                        .weak = na && !(nd.p[ND_NA_FLAGS] & OVERRIDE),
                        .answer = na};
    c->lladdr = nd_lladdr(nd, na ? ND_OPT_TARGET_LLADDR : ND_OPT_SOURCE_LLADDR);
    return c->lladdr != NULL;
}

static bool read_claim(struct view octets, struct claim *c)
{
    struct encap e;
    if (encap_decode(octets, &e) != WIRE_OK)
        return false;
    struct view body = view_from(octets, ENCAP_SIZE);
    return (e.type == TYPE_ARP && read_arp(body, c)) || (e.type == TYPE_IPV6 && read_nd(body, c));
}

static bool claims(const struct claim *c, bool ipv6, const uint8_t *ip)
{
    return c->ipv6 == ipv6 && memcmp(c->ip, ip, ipv6 ? IPV6_ADDRESS_SIZE : 4) == 0;
}

/* ---- whose packet is it? */

static bool has_ip(struct view v, uint32_t at, const uint8_t *ip)
{
    return view_has(v, at, 4) == WIRE_OK && memcmp(v.p + at, ip, 4) == 0;
}

/* Its sender's IP, where the lengths of the message say, or where they would if they were right. */
static bool arp_names(struct view v, const uint8_t *ip)
{
    struct arp a;
    bool fixed;
    arp_decode(v, &a, &fixed);
    return fixed && (has_ip(v, a.spa, ip) || has_ip(v, ARP_SIZE_FIXED + LLADDR_SIZE, ip));
}

bool names_peer(const struct target *t, const struct ud_from *from)
{
    struct encap e;
    struct view icmpv6, body = view_from(from->octets, ENCAP_SIZE);
    if (encap_decode(from->octets, &e) != WIRE_OK)
        return false;
    if (e.type == TYPE_ARP && !t->ipv6)
        return arp_names(body, t->ip);
    if (e.type != TYPE_IPV6 || !t->ipv6 || !nd_in_ipv6(body, &icmpv6) ||
        icmpv6.cap < ND_TARGET + IPV6_ADDRESS_SIZE)
        return false;
    return icmpv6.p[0] == ND_NA && memcmp(icmpv6.p + ND_TARGET, t->ip, IPV6_ADDRESS_SIZE) == 0;
}

/* The LMC's low bits choose among a port's LIDs; the peer's LMC is not known, this port's is. */
static bool is_peers_lid(const struct target *t, uint16_t lid)
{
    unsigned lmc = t->link->transport->facts.lmc;
    return lid == t->peer->lid || (lmc && (lid ^ t->peer->lid) >> lmc == 0);
}

/* Either of the two that the peer has shown: what it sends from, and what it announces. */
static bool is_peers_qpn(const struct target *t, uint32_t qpn)
{
    return qpn == t->peer->qpn || qpn == lladdr_read(t->peer->lladdr).qpn;
}

bool is_from_peer(const struct target *t, const struct ud_from *from)
{
    struct claim c;
    if (!t->peer->known)
        return false;
    if (from->lid)
        return is_peers_lid(t, from->lid) && is_peers_qpn(t, from->qpn);
    if (read_claim(from->octets, &c))
        return lladdr_same(c.lladdr, t->peer->lladdr);
    return names_peer(t, from) && !t->peer->has_rival;
}

bool is_of_peer(const struct target *t, const struct ud_from *from)
{
    return from->call || is_from_peer(t, from) || (!t->peer->known && names_peer(t, from));
}

/* ---- who else has the address */

static struct owner owner_of(const struct claim *c, const struct ud_from *from)
{
    struct owner w = {.lid = from->lid,
                      .sl = from->sl,
                      .qpn = from->qpn,
                      .weak = c->weak,
                      .heard = g_get_monotonic_time()};
    memcpy(w.lladdr, c->lladdr, LLADDR_SIZE);
    return w;
}

static bool is_same(const struct owner *a, const struct owner *b)
{
    return lladdr_same(a->lladdr, b->lladdr) && a->lid == b->lid && a->qpn == b->qpn;
}

static bool is_peer(const struct target *t, const struct owner *w)
{
    return lladdr_same(w->lladdr, t->peer->lladdr) &&
           (!w->lid || (is_peers_lid(t, w->lid) && is_peers_qpn(t, w->qpn)));
}

static void note_rival(struct target *t, const struct owner *w)
{
    struct peer *peer = t->peer;
    if (!peer->has_rival)
        peer->rival = *w;
    else if (is_same(&peer->rival, w))
        peer->rival.weak &= w->weak;
    peer->has_rival = true;
}

/* Before the peer is found, by the first answer: two that may be it. */
static void note_candidate(struct target *t, const struct owner *w)
{
    struct peer *peer = t->peer;
    if (!peer->has_rival)
        note_rival(t, w);
    else if (!is_same(&peer->rival, w))
        peer->latest = *w;
}

static void note_sender(struct target *t, const struct ud_from *from)
{
    struct peer *peer = t->peer;
    if (!peer->lid) {
        peer->lid = from->lid;
        peer->qpn = from->qpn;
    }
    peer->several |= from->lid != peer->lid || from->qpn != peer->qpn;
}

static void hear_nobody(struct target *t, const struct claim *c, const struct owner *w)
{
    struct nobody *n = &t->peer->nobody;
    for (unsigned i = 0; i < n->n; i++)
        if (c->answer && claims(c, t->ipv6, n->ip[i])) {
            n->by_peer |= is_peer(t, w) ? 1u << i : 0;
            n->by_rival |= t->peer->has_rival && lladdr_same(w->lladdr, t->peer->rival.lladdr)
                               ? 1u << i
                               : 0;
        }
}

static void hear_peer(struct target *t, const struct claim *c)
{
    t->peer->heard = g_get_monotonic_time();
    t->peer->weak |= c->weak && claims(c, t->ipv6, t->ip);
}

static void hear_other(struct target *t, const struct owner *w)
{
    note_rival(t, w);
    t->peer->latest = *w;
}

void owner_hear(struct target *t, const struct ud_from *from)
{
    struct claim c;
    if (from->call)
        return;
    if (!t->peer->known && names_peer(t, from))
        note_sender(t, from);
    if (!read_claim(from->octets, &c)) {
        if (is_from_peer(t, from))
            t->peer->heard = g_get_monotonic_time();
        return;
    }
    struct owner w = owner_of(&c, from);
    hear_nobody(t, &c, &w);
    if (!t->peer->known && claims(&c, t->ipv6, t->ip))
        note_candidate(t, &w);
    else if (t->peer->known && is_peer(t, &w))
        hear_peer(t, &c);
    else if (claims(&c, t->ipv6, t->ip))
        hear_other(t, &w);
}

void owner_answered(struct target *t, gint64 sent)
{
    if (t->peer->has_rival && sent > t->peer->rival.heard)
        t->peer->both = true;
}

void owner_take(struct target *t, const struct answer *a)
{
    struct peer *peer = t->peer;
    memcpy(peer->lladdr, a->lladdr, LLADDR_SIZE);
    peer->lid = a->lid;
    peer->sl = a->sl;
    peer->qpn = a->qpn;
    peer->known = true;
    peer->heard = g_get_monotonic_time();
    if (!peer->has_rival || !is_peer(t, &peer->rival))
        return;
    peer->weak = peer->rival.weak;
    peer->has_rival = peer->latest.heard && !is_peer(t, &peer->latest);
    peer->rival = peer->latest;
}

static void place_at(struct peer *peer, const struct owner *w)
{
    memcpy(peer->lladdr, w->lladdr, LLADDR_SIZE);
    peer->lid = w->lid;
    peer->sl = w->sl;
    peer->qpn = w->qpn;
}

bool owner_swap(struct target *t)
{
    struct peer *peer = t->peer;
    const struct owner rival = peer->rival;
    if (!peer->has_rival || peer->both || !lladdr_same(rival.lladdr, peer->lladdr))
        return false;
    peer->rival = peer_as_owner(t);
    peer->rival.heard = rival.heard;
    place_at(peer, &rival);
    return true;
}

/* What came to the announced queue pair is answered by it: by another only if it has a second. */
void owner_settle(struct target *t, const struct answer *a)
{
    struct peer *peer = t->peer;
    const struct owner before = peer_as_owner(t);
    if (a->qpn == peer->qpn || a->qpn != lladdr_read(peer->lladdr).qpn)
        return;
    peer->qpn = a->qpn;
    note_rival(t, &before);
    peer->rival.heard = peer->rival.heard ? peer->rival.heard : peer->patience.first_sent - 1;
    owner_answered(t, peer->patience.first_sent);
}

enum { FLUX_WAIT_MS = 30 };

static bool rival_came(struct target *t, const struct ud_from *from, void *user)
{
    (void)from;
    (void)user;
    return t->peer->has_rival;
}

bool find_rival(struct target *t)
{
    if (!t->peer->has_rival)
        await_packet(t, FLUX_WAIT_MS, rival_came, NULL);
    return t->peer->has_rival;
}

/* ---- findings of packets that came before the peer was found */

static bool is_of_found(void *user, uint16_t lid, uint32_t qpn)
{
    const struct target *t = user;
    return !lid || (is_peers_lid(t, lid) && is_peers_qpn(t, qpn));
}

static bool is_of_nobody(void *user, uint16_t lid, uint32_t qpn)
{
    (void)user;
    (void)qpn;
    return !lid;
}

void owner_sort(struct target *t, bool found)
{
    if (found)
        results_drop(t->results, is_of_found, t);
    else if (t->peer->several)
        results_drop(t->results, is_of_nobody, NULL);
    results_release(t->results, NULL);
}

/* ---- a peer that changes */

enum place { PLACE_SAME, PLACE_CHANGED, PLACE_UNKNOWN };

static void tell_changed(struct target *t, const struct owner *before)
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

/* Nothing that was learnt of the old place counts any more. */
static void move_to(struct target *t, const struct owner *w)
{
    struct peer *peer = t->peer;
    const struct owner before = peer_as_owner(t);
    place_at(peer, w);
    peer->has_rival = peer->both = false;
    peer->form = FORM_UNKNOWN;
    peer->cm_silent = false;
    g_free(peer->by_unicast);
    peer->by_unicast = NULL;
    wirelog_judge(t->log, t->results->known, results_judged, t->results);
    tell_changed(t, &before);
}

/* Asked for at its place, and then by multicast. sure: an answer is evidence. */
static enum place look(struct target *t, bool sure)
{
    struct peer *peer = t->peer;
    struct answer *a = g_new(struct answer, 1);
    gint64 begin = g_get_monotonic_time();
    unsigned tries = peer->gone ? 1 : TRIES;
    struct question here = {.grh = peer->needs_grh, .alone = sure},
                    group = {.multicast = true, .alone = sure};
    bool same = (!peer->gone && ask_peer(t, &here, tries, a) == CAME_ANSWER) ||
                ask_peer(t, &group, tries, a) == CAME_ANSWER;
    g_free(a);
    if (target_ended(t))
        return PLACE_UNKNOWN;
    bool elsewhere = !same && peer->latest.heard >= begin &&
                     !(peer->both && is_same(&peer->latest, &peer->rival));
    peer->gone = !same && !elsewhere;
    if (elsewhere)
        move_to(t, &peer->latest);
    return same ? PLACE_SAME : elsewhere ? PLACE_CHANGED : PLACE_UNKNOWN;
}

void owner_confirm(struct target *t, gint64 begin)
{
    static const char changed[] = "the peer changed while it was tested: see peer.changed",
                      gone[] = "the peer no longer answers: whether it changed is not known";
    struct results *r = t->results;
    bool fails = results_holds(r, OUTCOME_FAIL);
    bool silent = (t->peer->heard <= begin || t->peer->heard < t->peer->patience.first_sent) &&
                  results_holds(r, OUTCOME_INCONCLUSIVE);
    enum place place = PLACE_SAME;
    if ((fails || silent) && !target_ended(t))
        place = look(t, fails);
    results_release(r, place == PLACE_CHANGED            ? changed
                       : place == PLACE_UNKNOWN && fails ? gone
                                                         : NULL);
}

/* ---- proxies */

/* Spread over the peer's /24, or over the interface identifiers of its /64. */
static void choose_nobody(struct target *t)
{
    enum { STEP = 83, HOSTS = 254 };
    struct nobody *n = &t->peer->nobody;
    const uint8_t *own = t->link->source.given && t->link->source.ipv6 == t->ipv6
                             ? t->link->source.ip
                             : NULL;
    *n = (struct nobody){.n = 0};
    for (unsigned k = 1; n->n < NOBODIES; k++) {
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

/* NS go to the peer: the group of an address that nobody has is not there. */
static struct question about_nobody(const struct target *t, unsigned i)
{
    return (struct question){.multicast = !t->ipv6,
                             .grh = t->peer->needs_grh,
                             .ip = t->peer->nobody.ip[i],
                             .ip_version = t->ipv6 ? 6 : 4,
                             .any = true};
}

/* Once each, and without waiting: what comes is heard during the whole run. */
void owner_ask_nobody(struct target *t)
{
    choose_nobody(t);
    for (unsigned i = 0; i < NOBODIES; i++) {
        uint8_t out[UD_SIZE];
        struct question q = about_nobody(t, i);
        struct asked x = {.q = &q, .ipv6 = t->ipv6, .ip = q.ip};
        uint32_t n = make_question(t, &x, t->link->lladdr, out);
        struct ud_to to = to_peer(t, q.grh);
        if (q.multicast)
            send_group(t, &t->link->group, out, n);
        else
            send_unicast(t, &to, out, n);
    }
}

enum { ALL_NOBODIES = (1u << NOBODIES) - 1 };

/* Who answered for some of them is asked for the others again: packets are lost. */
static void ask_again(struct target *t)
{
    const struct nobody *n = &t->peer->nobody;
    struct answer *a = g_new(struct answer, 1);
    for (unsigned i = 0; i < n->n && !target_ended(t); i++) {
        struct question q = about_nobody(t, i);
        if ((n->by_peer && !(n->by_peer >> i & 1)) || (n->by_rival && !(n->by_rival >> i & 1)))
            ask_peer(t, &q, 2, a);
    }
    g_free(a);
}

static void tell_proxy(struct target *t)
{
    const struct nobody *n = &t->peer->nobody;
    char ip[NOBODIES][48];
    ask_again(t);
    if (n->n < NOBODIES || n->by_peer != ALL_NOBODIES)
        return;
    for (unsigned i = 0; i < NOBODIES; i++)
        ip_text(t->ipv6, n->ip[i], ip[i]);
    results_stage(t->results, "peer.proxy", OUTCOME_NOTED, "",
                  "it answers for %s, %s and %s too, which were chosen at random: a proxy (%s), or "
                  "a host that has many addresses",
                  ip[0], ip[1], ip[2], t->ipv6 ? "RFC 4861 §7.2.8" : "RFC 1027");
}

/* ---- what is told after the checks */

static void tell_flux(struct target *t)
{
    static const char advice[] =
        "a host with several ports on the link: set arp_ignore and arp_announce to 1 or 2 there; else two hosts have one address";
    static const char advice6[] = "two hosts have one address: see what each of them is";
    const struct peer *peer = t->peer;
    const struct owner own = peer_as_owner(t);
    char one[OWNER_TEXT], other[OWNER_TEXT];
    bool weak = t->ipv6 && (peer->weak || peer->rival.weak);
    owner_text(&own, one, sizeof one);
    owner_text(&peer->rival, other, sizeof other);
    results_stage(t->results, "peer.arp-flux",
                  !peer->both ? OUTCOME_INCONCLUSIVE
                  : weak      ? OUTCOME_NOTED
                              : OUTCOME_FAIL,
                  !peer->both || weak ? ""
                  : t->ipv6           ? advice6
                                      : advice,
                  "%s and %s both send as %s: %s%s", one, other, t->name,
                  !peer->both ? "whether the address has two owners, or moved, is not known"
                  : weak      ? "an anycast address or a proxy, for an NA has no Override flag"
                              : "a duplicate or moving address",
                  peer->nobody.by_rival == ALL_NOBODIES ? "; the latter is a proxy, it answers for "
                                                          "addresses that nobody has too"
                                                        : "");
}

void owner_tell(struct target *t)
{
    if (t->peer->has_rival && !t->peer->both && !target_ended(t))
        look(t, true);
    if (!t->yield && !target_ended(t))
        tell_proxy(t);
    if (t->peer->has_rival)
        tell_flux(t);
}
