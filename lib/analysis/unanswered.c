/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests between hosts that have no answer in the capture: ARP, Neighbour Discovery; echo.c has
 * pings.
 */
#include "analysis/forwarding.h"
#include "analysis/unanswered.h"
#include "wire/nd.h"
#include "wire/pkey.h"

/* The P_Key with which the holder of the IP address sends; 0: it is not known. */
static uint16_t pkey_of(const struct watch *w, uint32_t link, const struct ip *ip)
{
    const struct neighbour *n = neighbours_of_ip(w->f->neighbours, link, ip);
    const struct endport *port = n ? endports_by_gid(w->f->endports, w->p->at.interface,
                                                     n->lladdr + LLADDR_GID)
                                   : NULL;
    if (!port)
        return 0;
    const struct port at = port_lid(w->p->at.interface, port->lid);
    const struct qp *qp = qpns_find(w->f->qpns, &at, be24(n->lladdr + LLADDR_QPN));
    return qp ? qp->pkey : 0;
}

/* One of two P_Keys that match is that of a full member (IBA 10.9.3). */
static bool are_limited(const struct watch *w, const struct question *q, uint16_t *pkey)
{
    struct ip from = ip_of_key(q->key.who), to = ip_of_key(q->key.about);
    *pkey = pkey_of(w, (uint32_t)q->key.requester, &from);
    return is_partition(*pkey) && !(*pkey & PKEY_MEMBERSHIP) &&
           pkey_of(w, (uint32_t)q->key.requester, &to) == *pkey;
}

struct taken_address *taken_address_of(const struct watch *w, const struct ip *ip)
{
    return &w->questions->taken[mix_gid(ip->length, ip->bytes) >> 32 & (TAKEN_ADDRESSES - 1)];
}

enum { PKEY_TEXT = 120 };

/* Has the P_Key table of the holder no entry of the link's partition? */
static const char *pkey_text(const struct watch *w, uint32_t link, const struct ip *ip,
                             char text[PKEY_TEXT])
{
    const struct neighbour *n = neighbours_of_ip(w->f->neighbours, link, ip);
    const struct endport *port = n ? endports_by_gid(w->f->endports, w->p->at.interface,
                                                     n->lladdr + LLADDR_GID)
                                   : NULL;
    uint16_t pkey = (uint16_t)(link & 0x7fff) | PKEY_MEMBERSHIP;
    uint32_t frame = port ? pkey_table_without(w, port, pkey) : 0;
    *text = '\0';
    if (frame)
        g_snprintf(text, PKEY_TEXT,
                   "; the P_Key table of its port (frame %u) has no entry of the partition 0x%04x",
                   frame, pkey);
    return text;
}

enum { TAKEN_TEXT = 160 };

/*
 * Has another port than the holder announced the address since then, but in another partition of
 * the subnet? The link's hosts did not hear it. Two partitions may also have equal addresses.
 */
static const char *taken_text(const struct watch *w, const struct question *q, const struct ip *to,
                              char text[TAKEN_TEXT])
{
    uint32_t link = (uint32_t)q->key.requester;
    const struct taken_address *t = taken_address_of(w, to);
    const struct neighbour *n = neighbours_of_ip(w->f->neighbours, link, to);
    char gid[GID_TEXT];
    *text = '\0';
    if (n && t->frame > n->taken_frame && ip_same(&t->ip, to) && t->link != link &&
        t->link >> 16 == link >> 16 && memcmp(t->gid, n->lladdr + LLADDR_GID, GID_SIZE) != 0)
        g_snprintf(text, TAKEN_TEXT,
                   "; announced in another partition (P_Key 0x%04x) in frame %u, by GID %s",
                   (t->link & 0xffff) | PKEY_MEMBERSHIP, t->frame, text_of_gid(gid, t->gid));
    return text;
}

void ip_unanswered(const struct watch *w, enum event_kind kind, const struct question *q,
                   const char *more)
{
    struct ip from = ip_of_key(q->key.who), to = ip_of_key(q->key.about);
    struct sender who = sender_at(w, q->lid, &from);
    const struct event_key key = event_key(w, kind, q->key.who, q->key.about, q->key.requester);
    char target[SENDER_TEXT_SIZE], limited[120] = "", taken[TAKEN_TEXT], table[PKEY_TEXT];
    uint16_t pkey;
    if (are_limited(w, q, &pkey))
        g_snprintf(
            limited, sizeof limited,
            "; both are limited members of the partition (P_Key 0x%04x), so neither receives "
            "the other's packets",
            pkey);
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, q->first_frame,
                "no reply from %s was captured to %u requests since frame %u, %g s after the "
                "last%s%s%s%s",
                ip_text(target, &to), q->waited, q->first_frame, question_wait_s(q->key.kind), more,
                limited, taken_text(w, q, &to, taken),
                pkey_text(w, (uint32_t)q->key.requester, &to, table));
    watch_cut_paths(w, q->lid, q->peer);
}

/* ---- ARP and Neighbour Discovery */

static const struct neighbour *target_of(const struct watch *w, const struct question *q)
{
    struct ip target = ip_of_key(q->key.about);
    return neighbours_of_ip(w->f->neighbours, (uint32_t)q->key.requester, &target);
}

/*
 * A broadcast of the target has its address, and the requester may have received it. It has not if
 * it asks three times more.
 */
static void note_announcement(const struct watch *w, struct question *q)
{
    const struct neighbour *n = q->asked > 1 ? target_of(w, q) : NULL;
    if (!n || n->last_frame < q->first_frame || q->announced_frame > q->first_frame)
        return;
    q->announced_frame = n->last_frame;
    q->asked_before = q->asked - 1;
}

static bool asks_on(const struct question *q)
{
    return q->announced_frame > q->first_frame && q->waited >= q->asked_before + QUESTION_ASKED;
}

/* Did the target announce its address since the first request? */
static bool is_announced(const struct watch *w, const struct question *q)
{
    const struct neighbour *n = target_of(w, q);
    return n ? n->last_frame >= q->first_frame
             : w->f->undone->tables[UNDONE_NEIGHBOURS].refused > 0;
}

enum { GROUP_TEXT = 160 };

/* The solicited-node group of the address on its link (RFC 4291 section 2.7.1); NULL: not known. */
static const struct group *solicited_group(const struct watch *w, const struct question *q)
{
    enum { LINK_PKEY = 4, PREFIX = 13 };
    uint16_t pkey = (uint16_t)(q->key.requester & 0x7fff) | PKEY_MEMBERSHIP;
    const struct group *link = groups_only_broadcast(w->f->groups, w->p->at.interface, pkey);
    uint8_t mgid[GID_SIZE] = {0xff, 0x10, 0x60, 0x1b, [11] = 1, [12] = 0xff};
    if (!link || q->key.kind != QUESTION_ND || q->peer < LID_MULTICAST_FIRST)
        return NULL;
    mgid[1] |= group_scope(link);
    mgid[LINK_PKEY] = (uint8_t)(pkey >> 8);
    mgid[LINK_PKEY + 1] = (uint8_t)pkey;
    memcpy(mgid + PREFIX, q->key.about + PREFIX, GID_SIZE - PREFIX);
    return groups_find(w->f->groups, w->p->at.interface, mgid);
}

/* The group of the solicitations, if the target has joined it: a switch may drop its packets. */
static const char *group_text(const struct watch *w, const struct question *q,
                              char text[GROUP_TEXT])
{
    const struct group *group = group_of(solicited_group(w, q));
    const struct neighbour *n = target_of(w, q);
    const struct endport *port = n ? endports_by_gid(w->f->endports, w->p->at.interface,
                                                     n->lladdr + LLADDR_GID)
                                   : NULL;
    const struct member *m = group && port ? groups_member(w->f->groups, group, port) : NULL;
    char mgid[GID_TEXT];
    *text = '\0';
    if (m && m->join_state & JOIN_FULL && member_is_known(m))
        g_snprintf(text, GROUP_TEXT,
                   ", although it has joined their group %s, MLID 0x%04x, in frame %u",
                   text_of_gid(mgid, group->mgid), m->mlid, m->frame);
    return text;
}

/* Does a switch not forward the group of the requests to the target? */
static void cut_from_group(const struct watch *w, const struct question *q)
{
    uint16_t pkey = (uint16_t)(q->key.requester & 0x7fff) | PKEY_MEMBERSHIP;
    const struct neighbour *n = q->peer < LID_MULTICAST_FIRST ? NULL : target_of(w, q);
    if (!n)
        return;
    watch_cut_group(w,
                    q->key.kind == QUESTION_ND
                        ? solicited_group(w, q)
                        : groups_only_broadcast(w->f->groups, w->p->at.interface, pkey),
                    endports_by_gid(w->f->endports, w->p->at.interface, n->lladdr + LLADDR_GID));
}

/*
 * All groups of a link have one scope (RFC 4391 section 4), so the hosts of two scopes are on two
 * links, although they have one partition, and do not hear each other.
 */
static bool scopes_text(const struct watch *w, const struct question *q, char text[GROUP_TEXT])
{
    struct ip from = ip_of_key(q->key.who);
    const struct neighbour *asker = neighbours_of_ip(w->f->neighbours, (uint32_t)q->key.requester,
                                                     &from);
    const struct neighbour *target = target_of(w, q);
    uint8_t one = asker ? scope_of_holder(w, asker) : 0,
            other = target ? scope_of_holder(w, target) : 0;
    if (!one || !other || one == other || q->peer < LID_MULTICAST_FIRST)
        return false;
    g_snprintf(text, GROUP_TEXT,
               "; the two are on different links of the partition: its groups have the scope 0x%x, "
               "those of the other the scope 0x%x, so neither hears the other",
               one, other);
    return true;
}

/* Why there may be no answer; "" if nothing is known. */
static void reason_text(const struct watch *w, const struct question *q, bool announced,
                        char text[GROUP_TEXT])
{
    if (scopes_text(w, q, text))
        return;
    if (q->useless_frame)
        g_snprintf(text, GROUP_TEXT, ", but %s in frame %u", q->useless, q->useless_frame);
    else if (announced)
        g_snprintf(text, GROUP_TEXT, ", although it announced its address in frame %u",
                   q->announced_frame);
    else
        group_text(w, q, text);
}

static void address_unanswered(const struct watch *w, enum event_kind kind,
                               const struct question *q)
{
    char more[GROUP_TEXT];
    bool announced = is_announced(w, q);
    if (announced && !asks_on(q))
        return;
    reason_text(w, q, announced, more);
    ip_unanswered(w, kind, q, more);
    watch_rejoin(w, q);
    cut_from_group(w, q);
}

void arp_unanswered(const struct watch *w, struct question *q)
{
    address_unanswered(w, EVENT_ARP_UNANSWERED, q);
}

void nd_unanswered(const struct watch *w, struct question *q)
{
    address_unanswered(w, EVENT_ND_UNANSWERED, q);
}

static void ask_for(const struct watch *w, const struct question_key *key)
{
    struct question *q = question_ask(w, key, w->p->ib.psn + UINT64_C(1));
    if (!q)
        return;
    note_announcement(w, q);
    watch_asked_again(w, q);
    watch_request_rate(w, q);
}

static void note_useless(const struct watch *w, struct question *q, const char *what)
{
    q->useless_frame = w->p->at.frame;
    q->useless = what;
}

static struct question_key key_of_arp(const struct watch *w, const uint8_t *from, const uint8_t *to)
{
    struct question_key key = question_key(w, QUESTION_ARP, packet_link_key(w->p), NULL, NULL);
    memcpy(key.who, from, IPV4_ADDRESS_SIZE);
    memcpy(key.about, to, IPV4_ADDRESS_SIZE);
    return key;
}

/* A message of the target to the requester alone, such as a reply; or a reply to all. */
APART static void arp_answers(const struct watch *w, struct question *q)
{
    bool is_reply = w->p->datagram.arp.op == ARP_REPLY;
    watch_retried(w, q);
    if (is_reply && !packet_is_corrupt(w->p))
        question_answer_now(w, q);
    else
        question_answer(w, q);
}

static inline void arp_answered(const struct watch *w, const uint8_t *requester,
                                const uint8_t *target)
{
    bool to_all = ib_is_multicast(&w->p->ib);
    if (to_all && w->p->datagram.arp.op != ARP_REPLY)
        return;
    const struct question_key key = key_of_arp(w, requester, target);
    struct question *q = question_find(w, &key);
    if (q && to_all)
        note_useless(w, q, "one to the broadcast group");
    else if (q)
        arp_answers(w, q);
}

/* Has the message an option of this type? Or may it have one that was not captured? */
static bool may_have_option(struct view icmpv6, uint8_t type)
{
    struct nd_iter it;
    struct nd_option o;
    bool found = nd_options(icmpv6, &it);
    while (found && nd_next(&it, &o))
        if (o.type == type)
            return true;
    return !found || it.end == WIRE_TRUNCATED;
}

/*
 * Why an advertisement does not help the requester; NULL: it does. Receivers discard messages that
 * a router has forwarded (RFC 4861 section 7.1.2). One that answers a solicitation to a group must
 * have the address (section 7.2.4), because the requester does not know it.
 */
static const char *why_useless(const struct datagram *d, const struct question *q)
{
    if (d->body.p[IPV6_HOP_LIMIT] != ND_HOP_LIMIT)
        return "one whose hop limit is not 255, so it is discarded,";
    if (d->icmpv6.p[0] == ND_NA && q->peer >= LID_MULTICAST_FIRST &&
        !may_have_option(d->icmpv6, ND_OPT_TARGET_LLADDR))
        return "one without its link-layer address";
    return NULL;
}

static struct question_key key_of_nd(const struct watch *w, const uint8_t *from, const uint8_t *to)
{
    return question_key(w, QUESTION_ND, packet_link_key(w->p), from, to);
}

static void nd_answered(const struct watch *w, const uint8_t *requester, const uint8_t *target)
{
    if (ib_is_multicast(&w->p->ib))
        return;
    const struct question_key key = key_of_nd(w, requester, target);
    struct question *q = question_find(w, &key);
    const char *useless = q ? why_useless(&w->p->datagram, q) : NULL;
    if (useless)
        note_useless(w, q, useless);
    else if (q && w->p->datagram.icmpv6.p[0] == ND_NA && !packet_is_corrupt(w->p))
        question_answer_now(w, q);
    else if (q)
        question_answer(w, q);
}

/* Probes and announcements want no reply (RFC 5227 sections 2.1, 2.3). */
static inline void watch_arp_request(const struct watch *w, const uint8_t *from, const uint8_t *to)
{
    if (!be32(from)) {
        const struct ip wanted = ip_read(to, IPV4_ADDRESS_SIZE);
        watch_wanted(w, &wanted);
    } else if (be32(from) != be32(to)) {
        const struct question_key key = key_of_arp(w, from, to);
        ask_for(w, &key);
    }
}

static inline void watch_arp(const struct watch *w, const struct datagram *d)
{
    const struct arp *a = &d->arp;
    if (d->arp_result != WIRE_OK || a->pln != IPV4_ADDRESS_SIZE)
        return;
    const uint8_t *from = d->body.p + a->spa, *to = d->body.p + a->tpa;
    arp_answered(w, to, from);
    if (packet_is_corrupt(w->p) || a->hln != LLADDR_SIZE)
        return;
    if (a->op == ARP_REQUEST)
        watch_arp_request(w, from, to);
    else if (a->op == ARP_REPLY)
        watch_held(w, from, IPV4_ADDRESS_SIZE, d->body.p + a->sha);
}

/* A solicitation from :: is duplicate address detection (RFC 4862 section 5.4.2). */
static void watch_nd(const struct watch *w, const struct datagram *d)
{
    if (view_has(d->icmpv6, 0, ND_TARGET + 16) != WIRE_OK)
        return;
    const uint8_t *target = d->icmpv6.p + ND_TARGET, *source = d->body.p + IPV6_SOURCE,
                  *destination = d->body.p + IPV6_DESTINATION;
    if (d->icmpv6.p[0] == ND_NA)
        nd_answered(w, destination, target);
    if (d->icmpv6.p[0] != ND_NS || is_unspecified_ipv6(source))
        return;
    nd_answered(w, destination, source);
    const struct question_key key = key_of_nd(w, source, target);
    ask_for(w, &key);
}

void watch_address_requests(const struct watch *w)
{
    const struct datagram *d = &w->p->datagram;
    if (!w->p->ib.has_lrh)
        return;
    if (d->encap.type == TYPE_ARP)
        watch_arp(w, d);
    else if (d->icmpv6.p)
        watch_nd(w, d);
}
