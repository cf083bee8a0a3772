/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IP addresses that have another holder than before: moved to another port, with another QPN of the
 * same port, or held by two ports at once; and announcements that miss the link's hosts.
 *
 * Two ports hold an address if the first announces it again after the second did, without taking it
 * over: by an ordinary ARP request or reply. A port that takes an address over announces it by
 * gratuitous ARP (RFC 5227 section 3) or an unsolicited advertisement. An address that goes back
 * after more than a minute may have been moved by hand; then it must alternate once more.
 * Or each takes it over from the other twice within 30 s (RFC 5227 section 2.4: it defends
 * its address).
 */
#include "analysis/unanswered.h"
#include "rules/check_context.h"
#include "wire/nd.h"
#include "wire/pkey.h"

enum { TWO_HOLDERS_MS = 60000, BOTH_MS = 1000 };

static const uint8_t all_nodes[IPV6_ADDRESS_SIZE] = {0xff, 0x02, [15] = 1};

struct announcement {
    struct ip ip;
    bool takes_over; /* gratuitous or unsolicited */
};

/* any: also one that takes nothing over. */
static bool read_arp(const struct datagram *d, struct announcement *a, bool any)
{
    const struct arp *m = &d->arp;
    if (d->arp_result != WIRE_OK || m->pln != IPV4_ADDRESS_SIZE || m->hln != LLADDR_SIZE)
        return false;
    a->takes_over = memcmp(d->body.p + m->spa, d->body.p + m->tpa, IPV4_ADDRESS_SIZE) == 0;
    if (!a->takes_over && !any)
        return false;
    a->ip = ip_read(d->body.p + m->spa, IPV4_ADDRESS_SIZE);
    return true;
}

/* An advertisement without the Override flag takes nothing over, as of an anycast address. */
static bool read_nd(const struct datagram *d, struct announcement *a, bool any)
{
    const uint8_t *m = d->icmpv6.p;
    if (view_has(d->icmpv6, 0, ND_TARGET + 16) != WIRE_OK || (m[0] != ND_NS && m[0] != ND_NA) ||
        (m[0] == ND_NA && !(m[ND_NA_FLAGS] & ND_NA_OVERRIDE)))
        return false;
    a->takes_over = m[0] == ND_NA && !(m[ND_NA_FLAGS] & ND_NA_SOLICITED);
    if (!a->takes_over && !any)
        return false;
    a->ip = ip_read(m[0] == ND_NA ? m + ND_TARGET : d->body.p + IPV6_SOURCE, IPV6_ADDRESS_SIZE);
    return true;
}

static bool read_announcement(const struct packet *p, struct announcement *a, bool any)
{
    const struct datagram *d = &p->datagram;
    if (d->header == WIRE_OK && d->encap.type == TYPE_ARP)
        return read_arp(d, a, any);
    return d->icmpv6.p && read_nd(d, a, any);
}

/* The fields of a holder, with its port as the model knows it. */
static struct sender sender_of_holder(const struct watch *w, const struct neighbour *n)
{
    const uint8_t *gid = n->lladdr + LLADDR_GID;
    struct sender s = sender_of_endport(endports_by_gid(w->f->endports, w->p->at.interface, gid));
    memcpy(s.gid, gid, GID_SIZE);
    s.known |= SENDER_GID;
    return sender_with_ip(s, &n->ip);
}

static struct event_key key_of_ip(const struct watch *w, enum event_kind kind,
                                  const struct neighbour *n, uint64_t number)
{
    struct event_key key = event_key(w, kind, NULL, NULL, number << 32 | n->link);
    memcpy(key.about, n->ip.bytes, n->ip.length);
    return key;
}

static struct event_key key_of_move(const struct watch *w, const struct neighbour *n)
{
    struct event_key key = key_of_ip(w, EVENT_MOVED, n, be24(n->lladdr + LLADDR_QPN));
    memcpy(key.who, n->lladdr + LLADDR_GID, GID_SIZE);
    return key;
}

static bool has_one_interface(const struct watch *w, const struct neighbour *n)
{
    const struct endport *port = endports_by_gid(w->f->endports, w->p->at.interface,
                                                 n->lladdr + LLADDR_GID);
    return !port || endport_has_one_interface(port, w->p->ib.pkey);
}

/* What the sender of the message does. */
static const char *use_of_address(const struct watch *w, const struct announcement *a)
{
    const struct datagram *d = &w->p->datagram;
    bool is_arp = d->encap.type == TYPE_ARP;
    bool is_reply = is_arp ? d->arp.op == ARP_REPLY : d->icmpv6.p[0] == ND_NA;
    if (a->takes_over)
        return "it announces the address";
    return is_reply ? "it replies with the address" : "it asks from the address";
}

static void moved(const struct watch *w, const struct neighbour *n, const char *use)
{
    const struct neighbour *before = n->before;
    struct sender who = sender_of_holder(w, n);
    char gid[GID_TEXT];
    uint32_t qpn = be24(n->lladdr + LLADDR_QPN), old = be24(before->lladdr + LLADDR_QPN);
    const struct event_key key = key_of_move(w, n);
    if (neighbour_is_same_port(before, n->lladdr))
        watch_event(w, &key, &who, before->last_frame,
                    has_one_interface(w, n)
                        ? "its QPN changed from 0x%06x to 0x%06x: hosts with the old address send "
                          "to a queue pair that is gone"
                        : "its QPN changed from 0x%06x to 0x%06x: the interface was restarted, or "
                          "another interface of the port has the address too",
                    old, qpn);
    else
        watch_event(w, &key, &who, before->last_frame, "%s; before, GID %s, QPN 0x%06x did", use,
                    text_of_gid(gid, before->lladdr + LLADDR_GID), old);
}

/* May the port have taken the address over by an announcement that the capture lost? */
static bool may_have_taken_over(const struct watch *w, uint32_t since)
{
    const struct psn_sender *s = psn_gaps_sender(w->f->psn_gaps, w->p->src, PSN_DATA);
    return s && s->gap_frame > since;
}

/* Did this port hold the address before the previous holder, and does it still hold it? */
static bool has_two_holders(const struct watch *w, const struct neighbour *n)
{
    const struct neighbour *other = n->before;
    if (neighbour_is_same_port(other, n->lladdr) || !other->before ||
        !neighbour_is_same_port(other->before, n->lladdr) ||
        may_have_taken_over(w, other->taken_frame))
        return false;
    bool soon = w->p->at.ns / 1000000 - other->taken_ns / 1000000 <= TWO_HOLDERS_MS;
    const struct event_key before = key_of_move(w, n);
    return soon || watch_has_event(w, &before);
}

static void two_holders(const struct watch *w, const struct neighbour *n)
{
    struct sender who = sender_of_holder(w, n);
    const struct event_key key = key_of_ip(w, EVENT_DUPLICATE_IP, n, 0);
    char gid[GID_TEXT];
    watch_event(w, &key, &who, n->before->taken_frame,
                "the address is announced by two ports: by this one, and by GID %s, QPN 0x%06x, in "
                "frame %u",
                text_of_gid(gid, n->before->lladdr + LLADDR_GID),
                be24(n->before->lladdr + LLADDR_QPN), n->before->taken_frame);
}

/* The ports of one adapter have neighbouring GUIDs, and may both answer for their host. */
static bool may_be_one_adapter(const uint8_t *a, const uint8_t *b)
{
    enum { APART_MAX = 4 };
    uint64_t one = be64(a + GID_SIZE / 2), other = be64(b + GID_SIZE / 2);
    return MAX(one, other) - MIN(one, other) < APART_MAX;
}

/*
 * Has the port before answered the same ARP request? It announced the address after the last
 * request, which is at most a second old.
 */
static bool both_answer(const struct watch *w, const struct neighbour *n)
{
    const struct datagram *d = &w->p->datagram;
    const struct neighbour *other = n->before;
    if (d->encap.type != TYPE_ARP || d->arp.op != ARP_REPLY || ib_is_multicast(&w->p->ib) ||
        may_be_one_adapter(n->lladdr + LLADDR_GID, other->lladdr + LLADDR_GID))
        return false;
    struct ip requester = ip_read(d->body.p + d->arp.tpa, IPV4_ADDRESS_SIZE);
    const struct question_key key = key_of_ips(w, QUESTION_ARP, &requester, &n->ip);
    const struct question *q = question_last(w, &key);
    const struct neighbour *r = neighbours_of_ip(w->f->neighbours, n->link, &requester);
    if (!q || !r || r->taken_frame > other->last_frame) /* another requester */
        return false;
    return other->last_frame > q->last_frame && watch_ms(w) >= q->last_ms &&
           watch_ms(w) - q->last_ms <= BOTH_MS;
}

APART static void two_answers(const struct watch *w, const struct neighbour *n)
{
    struct sender who = sender_of_holder(w, n);
    const struct event_key key = key_of_ip(w, EVENT_DUPLICATE_IP, n, 0);
    char gid[GID_TEXT];
    watch_event(w, &key, &who, n->before->last_frame,
                "it answers an ARP request that GID %s, QPN 0x%06x, has answered in frame %u: two "
                "ports have the address",
                text_of_gid(gid, n->before->lladdr + LLADDR_GID),
                be24(n->before->lladdr + LLADDR_QPN), n->before->last_frame);
}

/*
 * Two takeovers each way within so long: each within 10 s of the one before (RFC 5227 section 1.1,
 * DEFEND_INTERVAL). Slower ones may be those of a bond with ports of two adapters.
 */
enum { FIGHT_MS = 30000 };

static bool is_between(const struct fight *f, const uint8_t *a, const uint8_t *b)
{
    return (memcmp(f->gids[0], a, GID_SIZE) == 0 && memcmp(f->gids[1], b, GID_SIZE) == 0) ||
           (memcmp(f->gids[0], b, GID_SIZE) == 0 && memcmp(f->gids[1], a, GID_SIZE) == 0);
}

static struct fight *fight_of(const struct watch *w, const struct neighbour *n)
{
    const uint8_t *gid = n->lladdr + LLADDR_GID, *other = n->before->lladdr + LLADDR_GID;
    uint64_t place = mix_gid(mix_two(0, n->link, n->ip.length), n->ip.bytes);
    struct fight *f = &w->questions->fights[place >> 32 & (FIGHTS - 1)];
    if (f->link == n->link && ip_same(&f->ip, &n->ip) && is_between(f, gid, other))
        return f;
    *f = (struct fight){.link = n->link, .ip = n->ip};
    memcpy(f->gids[0], gid, GID_SIZE);
    memcpy(f->gids[1], other, GID_SIZE);
    return f;
}

/*
 * The port takes the address over from another one. Returns the frame since which they take it from
 * each other; 0: they do not.
 */
static uint32_t note_takeover(const struct watch *w, const struct neighbour *n)
{
    if (neighbour_is_same_port(n->before, n->lladdr) ||
        may_be_one_adapter(n->lladdr + LLADDR_GID, n->before->lladdr + LLADDR_GID))
        return 0;
    struct fight *f = fight_of(w, n);
    unsigned now = f->takes++ % FIGHT_TAKES;
    f->last[now].ms = watch_ms(w);
    f->last[now].frame = w->p->at.frame;
    unsigned first = f->takes % FIGHT_TAKES;
    return f->takes >= FIGHT_TAKES && watch_ms(w) - f->last[first].ms <= FIGHT_MS
               ? f->last[first].frame
               : 0;
}

APART static void fought_over(const struct watch *w, const struct neighbour *n, uint32_t since)
{
    struct sender who = sender_of_holder(w, n);
    const struct event_key key = key_of_ip(w, EVENT_DUPLICATE_IP, n, 0);
    char gid[GID_TEXT];
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, since,
                "two ports take the address over from each other again and again since frame %u, "
                "this one and GID %s, QPN 0x%06x: both have it, or it fails over back and forth",
                since, text_of_gid(gid, n->before->lladdr + LLADDR_GID),
                be24(n->before->lladdr + LLADDR_QPN));
}

static bool is_link_local(const struct ip *ip)
{
    return ip->length == IPV6_ADDRESS_SIZE && ip->bytes[0] == 0xfe && ip->bytes[1] >> 6 == 2;
}

/*
 * Interfaces of one port on one partition may share a link-local address, each with its QPN. The
 * port had only one of them if it joined the broadcast group again before it announced the new QPN.
 */
static bool is_move(const struct watch *w, const struct neighbour *n)
{
    const uint8_t *gid = n->lladdr + LLADDR_GID;
    const struct endport *port = endports_by_gid(w->f->endports, w->p->at.interface, gid);
    return !neighbour_is_same_port(n->before, n->lladdr) || !is_link_local(&n->ip) ||
           (port && endport_has_one_interface(port, w->p->ib.pkey));
}

/* ---- announcements that do not reach the link */

static void announcement_lost(const struct watch *w, const struct announcement *a,
                              const char *right)
{
    const struct ib_packet *ib = &w->p->ib;
    struct sender who = sender_of(w->f, w->p);
    const struct event_key key = event_key(w, EVENT_ANNOUNCEMENT_LOST, ib->sgid, ib->dgid,
                                           be24(a->ip.bytes + a->ip.length - 3));
    char group[GID_TEXT];
    who = sender_with_ip(who, &a->ip);
    watch_event(w, &key, &who, 0,
                "its announcement of the address goes to the group %s, not to %s: other hosts keep "
                "the old address",
                text_of_gid(group, ib->dgid), right);
}

static void note_taken(const struct watch *w, const struct announcement *a)
{
    struct taken_address *t = taken_address_of(w, &a->ip);
    *t = (struct taken_address){
        .ip = a->ip, .link = packet_link_key(w->p), .frame = w->p->at.frame};
    memcpy(t->gid, w->p->ib.sgid, GID_SIZE);
}

/* ---- the link of a queue pair, by the scope of its groups */

static struct sender_scope *place_of_sender(const struct watch *w)
{
    return scope_at(w, packet_link_key(w->p), w->p->ib.slid, w->p->ib.sqpn);
}

/* NULL: nothing of it was captured. */
static struct sender_scope *scope_of_sender(const struct watch *w)
{
    struct sender_scope *s = place_of_sender(w);
    return scope_is_of(s, w->e->sender, packet_link_key(w->p), w->p->ib.sqpn) ? s : NULL;
}

/* All groups of a link have the scope of its broadcast group (RFC 4391 section 4). */
void watch_sender_scope(const struct watch *w)
{
    const struct ib_packet *ib = &w->p->ib;
    const struct endport *port = w->e->sender;
    struct announcement a;
    if (!port || !ib->has_deth || !mgid_is_ipoib(ib->dgid))
        return;
    struct sender_scope *s = scope_of_sender(w);
    uint8_t scope = ib->dgid[1] & 0x0f;
    if ((s && s->scope == scope) || packet_is_corrupt(w->p) || read_announcement(w->p, &a, false))
        return;
    if (!s)
        *place_of_sender(w) = (struct sender_scope){port,           ib->sqpn, packet_link_key(w->p),
                                                    w->p->at.frame, scope,    port->ended};
    else
        s->scope = SCOPES;
}

/*
 * groups_only_broadcast(), of those whose MGID has a P_Key with the membership bit (RFC 4391
 * section 4): another one is no link's.
 */
static const struct group *only_broadcast(const struct groups *groups, uint16_t subnet,
                                          uint16_t pkey)
{
    const struct group *only = NULL;
    for (const struct group *b = groups_broadcasts(groups, subnet, pkey); b; b = b->next) {
        if (group_is_absent(b) || !(be16(b->mgid + MGID_PKEY) & PKEY_MEMBERSHIP))
            continue;
        if (only)
            return NULL;
        only = b;
    }
    return only && only->state == GROUP_PRESENT ? only
                                                : groups_only_broadcast(groups, subnet, pkey);
}

/*
 * The broadcast group of the sender's link. A partition may have several, one for each scope: then
 * the other groups to which the queue pair sends show its own. NULL: not known.
 */
static const struct group *broadcast_of_sender(const struct watch *w)
{
    const struct groups *groups = w->f->groups;
    uint16_t subnet = w->p->at.interface, pkey = w->p->ib.pkey;
    const struct group *only = only_broadcast(groups, subnet, pkey);
    const struct sender_scope *s = only ? NULL : scope_of_sender(w);
    if (!s || s->scope == SCOPES)
        return only;
    const struct group *own = groups_broadcast(groups, subnet, pkey, s->scope);
    const struct member *m = own ? groups_member(groups, own, s->port) : NULL;
    return m && m->join_state & JOIN_FULL ? own : NULL;
}

/* ---- the group of an announcement */

/*
 * The group to which the announcement should go, if it goes to another one; else NULL. Hosts of the
 * link listen to its broadcast group, and those with IPv6 to ff02::1.
 */
static const char *missed_group(const struct watch *w, const struct announcement *a,
                                char right[GID_TEXT])
{
    const struct ib_packet *ib = &w->p->ib;
    if (!a->takes_over || !ib->dgid || !mgid_is_ipoib(ib->dgid))
        return NULL;
    if (a->ip.length == IPV6_ADDRESS_SIZE) {
        const uint8_t *to = w->p->datagram.body.p + IPV6_DESTINATION;
        return memcmp(to, all_nodes, IPV6_ADDRESS_SIZE) != 0 ? "the group of ff02::1" : NULL;
    }
    const struct group *broadcast = broadcast_of_sender(w);
    return broadcast && memcmp(broadcast->mgid, ib->dgid, MGID_SIZE) != 0
               ? text_of_gid(right, broadcast->mgid)
               : NULL;
}

static void watch_group_of_announcement(const struct watch *w, const struct announcement *a)
{
    const struct ib_packet *ib = &w->p->ib;
    char text[GID_TEXT];
    if (!a->takes_over || !ib->dgid || !mgid_is_ipoib(ib->dgid))
        return;
    const char *right = missed_group(w, a, text);
    if (right)
        announcement_lost(w, a, right);
    else if (!packet_is_corrupt(w->p))
        note_taken(w, a);
}

/* ---- all of them */

static void watch_holder(const struct watch *w, const struct announcement *a)
{
    const struct neighbour *n = neighbours_of_ip(w->f->neighbours, packet_link_key(w->p), &a->ip);
    if (!n || !n->before || n->taken_frame != w->p->at.frame)
        return;
    char right[GID_TEXT];
    uint32_t since = a->takes_over ? note_takeover(w, n) : 0;
    if (!a->takes_over && has_two_holders(w, n))
        two_holders(w, n);
    else if (!a->takes_over && both_answer(w, n))
        two_answers(w, n);
    else if (since)
        fought_over(w, n, since);
    else if (is_move(w, n))
        moved(w, n,
              missed_group(w, a, right)
                  ? "it announces the address, but not to all hosts of the link"
                  : use_of_address(w, a));
}

/* Most announcements are those of a holder that is known, to one host. */
void watch_holders(const struct watch *w)
{
    bool is_taken = neighbours_taken_frame(w->f->neighbours) == w->p->at.frame;
    struct announcement a;
    if ((!is_taken && !w->p->ib.dgid) || !read_announcement(w->p, &a, is_taken) ||
        ip_is_unspecified(&a.ip))
        return;
    if (is_taken)
        watch_holder(w, &a);
    watch_group_of_announcement(w, &a);
}
