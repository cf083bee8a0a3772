/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out which port has the target's IP address. Every ARP message, NS and NA claims that its
 * sender has an IP address at a link-layer address (struct address_claim). The port that makes a
 * claim is the owner (struct owner): its link-layer address, and the LID and QPN that it sent from.
 * The owner of the target's IP address that responds first is the peer; any other one is a
 * competing owner.
 */
#include "probe/exchange/peer.h"

#include <stdio.h>
#include <string.h>

#include "probe/exchange/request.h"
#include "probe/exchange/usable.h"
#include "probe/link/hostif.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/target.h"
#include "probe/run/text.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/ip.h"
#include "wire/nd.h"

void owner_text(const struct owner *w, char *out, size_t size)
{
    char bytes[64], gid[48], lid[16] = "", sender[40] = "";
    uint32_t qpn = lladdr_read(w->lladdr).qpn;
    text_lladdr(w->lladdr, bytes);
    text_ip(true, w->lladdr + LLADDR_GID, gid);
    if (w->lid)
        snprintf(lid, sizeof lid, ", LID %u", w->lid);
    if (w->lid && w->qpn != qpn)
        snprintf(sender, sizeof sender, ", sent by QPN 0x%06x", w->qpn);
    snprintf(out, size, "%s (QPN 0x%06x, GID %s%s%s)", bytes, qpn, gid, lid, sender);
}

struct owner peer_as_owner(const struct target *t)
{
    struct owner w = {.lid = t->peer->lid, .sl = t->peer->sl, .qpn = t->peer->qpn};
    memcpy(w.lladdr, t->peer->lladdr, LLADDR_SIZE);
    return w;
}

/* What a packet says about an address: this IP address has this link-layer address. */
struct address_claim {
    bool ipv6;
    const uint8_t *ip, *lladdr;
    bool no_override; /* the NA has no Override flag */
    bool answer;      /* an ARP reply or an NA, not a request */
};

/* The claim of an ARP message: its sender address, in requests and replies (RFC 5227 §2.4). */
static bool read_arp(struct view v, struct address_claim *c)
{
    struct arp a;
    bool fixed;
    if (arp_decode(v, &a, &fixed) != WIRE_OK || a.hln != LLADDR_SIZE || a.pln != 4 ||
        (a.op != ARP_REQUEST && a.op != ARP_REPLY))
        return false;
    *c = (struct address_claim){
        .ip = v.p + a.spa, .lladdr = v.p + a.sha, .answer = a.op == ARP_REPLY};
    return true;
}

/*
 * The claim of an NA is its target address, and that of an NS its source address (RFC 4861 §7.2.5,
 * §7.2.3). None if the link-layer address option is missing or a host would drop the message.
 */
static bool read_nd(struct view ip, struct address_claim *c)
{
    enum { OVERRIDE = 0x20 };
    struct view nd;
    if (!nd_in_ipv6(ip, &nd) || nd.cap < ND_TARGET + IPV6_ADDRESS_SIZE ||
        (nd.p[0] != ND_NA && nd.p[0] != ND_NS) || usable_drop_reason(ip))
        return false;
    bool na = nd.p[0] == ND_NA;
    *c = (struct address_claim){.ipv6 = true,
                                .ip = na ? nd.p + ND_TARGET : ip.p + IPV6_SOURCE,
                                .no_override = na && !(nd.p[ND_NA_FLAGS] & OVERRIDE),
                                .answer = na};
    c->lladdr = nd_lladdr(nd, na ? ND_OPT_TARGET_LLADDR : ND_OPT_SOURCE_LLADDR);
    return c->lladdr != NULL;
}

static bool read_claim(struct view bytes, struct address_claim *c)
{
    struct encap e;
    if (encap_decode(bytes, &e) != WIRE_OK)
        return false;
    struct view body = view_from(bytes, ENCAP_SIZE);
    return (e.type == TYPE_ARP && read_arp(body, c)) || (e.type == TYPE_IPV6 && read_nd(body, c));
}

static bool is_claim_of(const struct address_claim *c, bool ipv6, const uint8_t *ip)
{
    return c->ipv6 == ipv6 && memcmp(c->ip, ip, ipv6 ? IPV6_ADDRESS_SIZE : 4) == 0;
}

static bool has_ip(struct view v, uint32_t at, const uint8_t *ip)
{
    return view_has(v, at, 4) == WIRE_OK && memcmp(v.p + at, ip, 4) == 0;
}

/*
 * True if ip is the sender's IP address at the position that the length fields give, or at the
 * position for correct lengths.
 */
static bool arp_names(struct view v, const uint8_t *ip)
{
    struct arp a;
    bool fixed;
    arp_decode(v, &a, &fixed);
    return fixed && (has_ip(v, a.spa, ip) || has_ip(v, ARP_SIZE_FIXED + LLADDR_SIZE, ip));
}

bool peer_is_named(const struct target *t, const struct ud_from *from)
{
    struct encap e;
    struct view icmpv6, body = view_from(from->bytes, ENCAP_SIZE);
    if (encap_decode(from->bytes, &e) != WIRE_OK)
        return false;
    if (e.type == TYPE_ARP && !t->ipv6)
        return arp_names(body, t->ip);
    if (e.type != TYPE_IPV6 || !t->ipv6 || !nd_in_ipv6(body, &icmpv6) ||
        icmpv6.cap < ND_TARGET + IPV6_ADDRESS_SIZE)
        return false;
    return icmpv6.p[0] == ND_NA && memcmp(icmpv6.p + ND_TARGET, t->ip, IPV6_ADDRESS_SIZE) == 0;
}

/*
 * True if the LID is one of the peer's. A port has 2^LMC LIDs, which differ in the lowest LMC bits.
 * The peer's LMC is not known, so the LMC of this host's port is used.
 */
bool peer_has_lid(const struct target *t, uint16_t lid)
{
    unsigned lmc = t->link->transport->facts.lmc;
    return lid == t->peer->lid || (lmc && (lid ^ t->peer->lid) >> lmc == 0);
}

/* True if the peer announces this QPN, or sent its first response from it. */
bool peer_has_qpn(const struct target *t, uint32_t qpn)
{
    return qpn == t->peer->qpn || qpn == lladdr_read(t->peer->lladdr).qpn;
}

bool peer_is_sender(const struct target *t, const struct ud_from *from)
{
    struct address_claim c;
    if (!t->peer->known)
        return false;
    if (from->lid)
        return peer_has_lid(t, from->lid) && peer_has_qpn(t, from->qpn);
    if (read_claim(from->bytes, &c))
        return lladdr_same(c.lladdr, t->peer->lladdr);
    return peer_is_named(t, from) && !t->peer->has_competing;
}

bool peer_may_be_sender(const struct target *t, const struct ud_from *from)
{
    return from->connection || peer_is_sender(t, from) ||
           (!t->peer->known && peer_is_named(t, from));
}

static struct owner owner_of(const struct address_claim *c, const struct ud_from *from)
{
    struct owner w = {.lid = from->lid,
                      .sl = from->sl,
                      .qpn = from->qpn,
                      .no_override = c->no_override,
                      .received_at = g_get_monotonic_time()};
    memcpy(w.lladdr, c->lladdr, LLADDR_SIZE);
    return w;
}

bool owner_is_same(const struct owner *a, const struct owner *b)
{
    return lladdr_same(a->lladdr, b->lladdr) && a->lid == b->lid && a->qpn == b->qpn;
}

static bool is_peer(const struct target *t, const struct owner *w)
{
    return lladdr_same(w->lladdr, t->peer->lladdr) &&
           (!w->lid || (peer_has_lid(t, w->lid) && peer_has_qpn(t, w->qpn)));
}

static void note_competing(struct target *t, const struct owner *w)
{
    struct peer *peer = t->peer;
    if (!peer->has_competing)
        peer->competing = *w;
    else if (owner_is_same(&peer->competing, w))
        peer->competing.no_override &= w->no_override;
    peer->has_competing = true;
}

/* Before the peer is found by its first response: notes up to two candidates. */
static void note_candidate(struct target *t, const struct owner *w)
{
    struct peer *peer = t->peer;
    if (!peer->has_competing)
        note_competing(t, w);
    else if (!owner_is_same(&peer->competing, w))
        peer->latest = *w;
}

static void note_sender(struct target *t, const struct ud_from *from)
{
    struct peer *peer = t->peer;
    if (!peer->lid) {
        peer->lid = from->lid;
        peer->qpn = from->qpn;
    }
    peer->several_senders |= from->lid != peer->lid || from->qpn != peer->qpn;
}

static void note_unused(struct target *t, const struct address_claim *c, const struct owner *w)
{
    struct unused_addresses *n = &t->peer->unused;
    for (unsigned i = 0; i < n->n; i++)
        if (c->answer && is_claim_of(c, t->ipv6, n->ip[i])) {
            n->by_peer |= is_peer(t, w) ? 1u << i : 0;
            n->by_competing |= t->peer->has_competing &&
                                       lladdr_same(w->lladdr, t->peer->competing.lladdr)
                                   ? 1u << i
                                   : 0;
        }
}

static void note_own(struct target *t, const struct address_claim *c, const struct owner *w)
{
    struct own_request *own = &t->peer->own;
    if (own->sent && c->answer && is_claim_of(c, t->ipv6, own->ip) && !host_has_port(w->lladdr)) {
        own->taken = true;
        own->by = *w;
    }
}

static void note_peer(struct target *t, const struct address_claim *c)
{
    t->peer->received_at = g_get_monotonic_time();
    t->peer->no_override |= c->no_override && is_claim_of(c, t->ipv6, t->ip);
}

static void note_other(struct target *t, const struct owner *w)
{
    note_competing(t, w);
    t->peer->latest = *w;
}

void peer_observe(struct target *t, const struct ud_from *from)
{
    struct address_claim c;
    if (from->connection)
        return;
    if (!t->peer->known && peer_is_named(t, from))
        note_sender(t, from);
    if (!read_claim(from->bytes, &c)) {
        if (peer_is_sender(t, from))
            t->peer->received_at = g_get_monotonic_time();
        return;
    }
    struct owner w = owner_of(&c, from);
    note_unused(t, &c, &w);
    note_own(t, &c, &w);
    if (!t->peer->known && is_claim_of(&c, t->ipv6, t->ip))
        note_candidate(t, &w);
    else if (t->peer->known && is_peer(t, &w))
        note_peer(t, &c);
    else if (is_claim_of(&c, t->ipv6, t->ip))
        note_other(t, &w);
}

void peer_responded(struct target *t, gint64 sent)
{
    if (t->peer->has_competing && sent > t->peer->competing.received_at)
        t->peer->responds_too = true;
}

void peer_count_message(struct peer *peer, const struct cm_connection *c, bool acknowledged)
{
    peer->messages_acknowledged += !c->req.uc && acknowledged;
    peer->messages_lost += !c->req.uc && !acknowledged && c->dead && c->lost;
}

bool peer_loses_messages(const struct peer *peer)
{
    return peer->messages_lost >= 2 && !peer->messages_acknowledged;
}

void peer_set(struct target *t, const struct response *a)
{
    struct peer *peer = t->peer;
    memcpy(peer->lladdr, a->lladdr, LLADDR_SIZE);
    peer->lid = a->lid;
    peer->sl = a->sl;
    peer->qpn = a->qpn;
    peer->known = true;
    peer->received_at = g_get_monotonic_time();
    if (!peer->has_competing || !is_peer(t, &peer->competing))
        return;
    peer->no_override = peer->competing.no_override;
    peer->has_competing = peer->latest.received_at && !is_peer(t, &peer->latest);
    peer->competing = peer->latest;
}

void peer_set_location(struct peer *peer, const struct owner *w)
{
    memcpy(peer->lladdr, w->lladdr, LLADDR_SIZE);
    peer->lid = w->lid;
    peer->sl = w->sl;
    peer->qpn = w->qpn;
}

bool peer_swap(struct target *t)
{
    struct peer *peer = t->peer;
    const struct owner competing = peer->competing;
    if (!peer->has_competing || peer->responds_too || !lladdr_same(competing.lladdr, peer->lladdr))
        return false;
    peer->competing = peer_as_owner(t);
    peer->competing.received_at = competing.received_at;
    peer_set_location(peer, &competing);
    return true;
}

/*
 * The peer was taken from its first response, which another port or queue pair with the same
 * link-layer address may have sent. A unicast request goes to the announced QPN, so its response
 * comes from the queue pair that has the link-layer address: that one is the peer. If the first
 * response came from another queue pair, that one is the competing owner.
 */
void peer_settle(struct target *t, const struct response *a)
{
    struct peer *peer = t->peer;
    const struct owner before = peer_as_owner(t);
    if (a->qpn == peer->qpn || a->qpn != lladdr_read(peer->lladdr).qpn)
        return;
    peer->qpn = a->qpn;
    note_competing(t, &before);
    peer->competing.received_at = peer->competing.received_at ? peer->competing.received_at
                                                              : peer->response_times.first_sent - 1;
    peer_responded(t, peer->response_times.first_sent);
}

struct ud_to peer_destination(const struct target *t, bool grh)
{
    struct ud_to to = {.lid = t->peer->lid,
                       .sl = t->peer->sl,
                       .hop_limit = 1,
                       .qpn = lladdr_read(t->peer->lladdr).qpn,
                       .qkey = t->link->group.qkey,
                       .grh = grh};
    memcpy(to.gid, t->peer->lladdr + LLADDR_GID, 16);
    return to;
}
