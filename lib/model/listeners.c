/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/listeners.h"

#include "wire/membership.h"
#include "wire/nanoseconds.h"
#include "wire/pkey.h"

/*
 * Seconds from the report that a host listens no more to its Delete: both follow the same change,
 * but the driver sends the Delete asynchronously.
 */
enum { LEAVE_SECONDS = 10 };

enum { GROUPS_SEARCHED = 1024 }; /* a fabric has fewer */

static bool is_overdue(const struct observation *o, const struct member *m, int64_t seconds)
{
    return clocks_at_least(&o->f->facts.order.clocks, m->reported_on, m->reported_ns) >=
           seconds * NANOSECONDS;
}

/*
 * The sender's membership of an IP group that it reports, or only that it listens; NULL: the sender
 * or the group is not known. create: also if the group was not heard of, and for a sender that has
 * asked nothing so far. Only a port whose start was captured is known never to have joined.
 */
static struct member *member_that_reports(const struct observation *o, struct endport *sender,
                                          const struct membership *listens, const uint8_t *mgid,
                                          bool create)
{
    struct groups *all = o->f->groups;
    bool multicast = listens->length == 4 ? listens->group[0] >> 4 == 0xe
                                          : listens->group[0] == 0xff;
    create &= multicast && sender && sender->new_frame;
    struct group *g = sender ? groups_get(all, o->p->at.interface, mgid, create) : NULL;
    return g ? groups_get_member(all, g, sender, create) : NULL;
}

/* Is the place in the list free, or the member's own? */
static bool is_free(const struct member *in, const struct member *m)
{
    return !in || in == m || !in->stopped_frame || !in->reported_ns || in->pending;
}

static void add_stopped(struct fabric *f, struct member *m)
{
    struct stopped *all = &f->stopped;
    unsigned i = 0;
    while (i < all->n && !is_free(all->members[i], m))
        i++;
    if (i == STOPPED_MAX) {
        undone_refuse(&f->undone, UNDONE_WAITING);
        return;
    }
    all->members[i] = m;
    all->n = MAX(all->n, i + 1);
}

/*
 * It listens no more. If it does again, the time to join counts from its next report. A FullMember
 * has to leave the group (struct stopped).
 */
static void forget_listener(const struct observation *o, const struct membership *listens,
                            struct endport *sender)
{
    uint8_t mgid[MGID_SIZE];
    mgid_of_group(mgid, o->p->ib.dgid, listens->group, listens->length);
    struct member *m = member_that_reports(o, sender, listens, mgid, false);
    if (!m || packet_is_corrupt(o->p) || m->stopped_frame)
        return;
    m->reported_ns = 0;
    if (!(m->join_state & JOIN_FULL))
        return;
    member_set_time(m, o->p);
    m->stopped_frame = o->p->at.frame;
    add_stopped(o->f, m);
}

/* ---- ports that should have joined */

/* Has a FullMember, or one that listens no more, the place in the list? */
static bool is_settled(const struct member *m)
{
    return !m || !m->reported_ns || m->stopped_frame || !m->reported_frame ||
           (m->join_state & JOIN_FULL && !m->pending);
}

/* Else the MGID that is made from this one may be wrong: its scope, its flags or its P_Key. */
static bool is_joined(const struct observation *o, const struct endport *port, const uint8_t *mgid)
{
    const struct group *g = groups_find(o->f->groups, o->p->at.interface, mgid);
    const struct member *m = g ? groups_member(o->f->groups, g, port) : NULL;
    return m && m->join_state;
}

/* Its first report. Beyond the limit, only a later report shows that it listens still. */
static void add_listening(const struct observation *o, struct member *m)
{
    struct listening *all = &o->f->listening;
    unsigned i = 0;
    m->reported_frame = o->p->at.frame;
    m->reported_qpn = o->p->ib.sqpn;
    while (i < all->n && all->members[i] != m && !is_settled(all->members[i]))
        i++;
    if (i == LISTENING_MAX)
        return;
    all->members[i] = m;
    all->n = MAX(all->n, i + 1);
}

/*
 * Does this datagram show that the host listens still? It comes from the QP that sent the report,
 * and every one since was captured, so no report said that it listens no more.
 */
static bool listens_still(const struct observation *o, const struct member *m)
{
    const struct packet *p = o->p;
    const struct events *e = o->e;
    bool mld = be16(m->group->mgid + MGID_SIGNATURE) == MGID_SIGNATURE_IPV6;
    return m->reported_qpn == p->ib.sqpn && m->group->interface == p->at.interface &&
           endport_has_lid(m->endport, port_to_lid(p->src)) &&
           m->reported_ended == m->endport->ended && m->endport->ended != ENDED_MAX &&
           o->f->listening.silent_frame[mld] < m->reported_frame && e->has_sender_qp &&
           e->sender_seen == SEEN_NEXT && !packet_is_corrupt(p) &&
           sequence_is_whole_since(&e->sender_qp.sequence, m->reported_frame);
}

static void add_due(const struct observation *o, const struct member *m)
{
    struct listener *l = events_add_listener(o->e);
    memcpy(l->mgid, m->group->mgid, MGID_SIZE);
    l->member = member_has_asked(m) ? m : NULL;
    l->port = m->endport;
    l->reported_ns = m->reported_ns;
    l->reported_on = m->reported_on;
    l->frame = m->reported_frame;
}

void listeners_see_datagram(const struct observation *o)
{
    struct listening *all = &o->f->listening;
    for (unsigned i = 0; i < all->n; i++) {
        struct member *m = all->members[i];
        if (m && is_settled(m))
            all->members[i] = NULL;
        else if (m && !m->pending && !m->refused && listens_still(o, m) &&
                 is_overdue(o, m, LISTENER_JOIN_SECONDS)) {
            add_due(o, m);
            all->members[i] = NULL;
        }
    }
    while (all->n && !all->members[all->n - 1])
        all->n--;
}

static void learn_listener(const struct observation *o, const struct membership *listens,
                           struct endport *sender)
{
    const struct packet *p = o->p;
    bool corrupt = packet_is_corrupt(p);
    struct listener *l = events_add_listener(o->e);
    mgid_of_group(l->mgid, p->ib.dgid, listens->group, listens->length);
    struct member *m = member_that_reports(o, sender, listens, l->mgid, !corrupt);
    if (!m || !sender)
        return;
    l->member = member_has_asked(m) ? m : NULL;
    if (corrupt && m->stopped_frame)
        return;
    /* it was brought up again, or listens again: it needs its time again */
    if (m->reported_ended != sender->ended || sender->ended == ENDED_MAX || m->stopped_frame)
        m->reported_ns = m->stopped_frame = 0;
    l->reported_ns = m->reported_ns;
    l->reported_on = m->reported_on;
    if (!corrupt && !listens->excludes)
        m->reported_frame = 0;
    if (m->reported_ns || m->pending || corrupt)
        return;
    member_set_time(m, p);
    m->reported_ended = sender->ended;
    if (listens->excludes && is_joined(o, sender, p->ib.dgid))
        add_listening(o, m);
}

void learn_listeners(const struct observation *o, struct endport *sender)
{
    const struct packet *p = o->p;
    const struct datagram *d = &p->datagram;
    uint16_t lid = port_to_lid(p->src);
    bool sa = lid && lid == subnet_sa_lid(o->f->subnet, p->at.interface);
    struct membership_iter it;
    struct membership listens;
    if (d->header != WIRE_OK || (d->encap.type != TYPE_IPV4 && d->encap.type != TYPE_IPV6))
        return;
    if (membership_is_old(d->body))
        o->f->listening.silent_frame[d->encap.type == TYPE_IPV6] = p->at.frame;
    if (!membership_begin(d->body, &it))
        return;
    while (membership_next(&it, &listens)) {
        if (listens.joins)
            learn_listener(o, &listens, sa ? NULL : sender);
        else
            forget_listener(o, &listens, sa ? NULL : sender);
    }
}

/* ---- ports that should have left */

static bool is_full_member(const struct observation *o, const struct member *like,
                           const struct group *g)
{
    const struct member *m = g ? groups_member(o->f->groups, g, like->endport) : NULL;
    return m && m->join_state & JOIN_FULL && !m->pending;
}

/* Groups 224.0.0.1 and ff02::1: an interface that is up is a member of one of them at least. */
static const uint8_t all_hosts[4] = {224, 0, 0, 1}, all_nodes[16] = {0xff, 2, [15] = 1};

static bool is_in(const struct observation *o, const struct member *m, const uint8_t *ip,
                  uint8_t length)
{
    uint8_t mgid[MGID_SIZE];
    mgid_of_group(mgid, m->group->mgid, ip, length);
    return is_full_member(o, m, groups_find(o->f->groups, m->group->interface, mgid));
}

/* Has the port of the membership, which has ended, left the link? */
static bool has_gone(const struct observation *o, const struct member *m)
{
    return group_is_broadcast(m->group) ||
           !(is_in(o, m, all_hosts, sizeof all_hosts) || is_in(o, m, all_nodes, sizeof all_nodes));
}

/* A group of the link of which the port is still a FullMember, among the first groups; or NULL. */
static const struct group *other_group(const struct observation *o, const struct member *m)
{
    unsigned n = MIN(groups_count(o->f->groups), GROUPS_SEARCHED);
    uint16_t pkey = be16(m->group->mgid + MGID_PKEY);
    for (unsigned i = 0; i < n; i++) {
        const struct group *g = groups_at(o->f->groups, i);
        if (mgid_is_ipoib(g->mgid) && same_partition(be16(g->mgid + MGID_PKEY), pkey) &&
            is_full_member(o, m, g))
            return g;
    }
    return NULL;
}

/* The group that the port should have left; NULL: none. */
static const struct group *stays_in(const struct observation *o, const struct member *m)
{
    if (is_free(m, NULL))
        return NULL;
    if (m->join_state & JOIN_FULL)
        return m->group;
    return has_gone(o, m) ? other_group(o, m) : NULL;
}

void listeners_see_leave(const struct observation *o, const struct subnet_event *e)
{
    static const uint8_t hosts[MGID_SIZE - MGID_GROUP] = {[MGID_SIZE - MGID_GROUP - 1] = 1};
    if (e->kind != SUBNET_LEFT || !e->member || e->member->join_state & JOIN_FULL || e->left_before)
        return;
    const uint8_t *mgid = e->group->mgid;
    if (!group_is_broadcast(e->group) &&
        !(mgid_is_ipoib(mgid) && memcmp(mgid + MGID_GROUP, hosts, sizeof hosts) == 0))
        return;
    struct member *m = member_to_write(e);
    member_set_time(m, o->p);
    m->stopped_frame = e->request ? e->request->frame : o->p->at.frame;
    add_stopped(o->f, m);
}

void listeners_see_mad(const struct observation *o)
{
    struct stopped *all = &o->f->stopped;
    for (unsigned i = 0; i < all->n; i++) {
        struct member *m = all->members[i];
        if (!m || m->group->interface != o->p->at.interface)
            continue;
        if (!is_free(m, NULL) && !is_overdue(o, m, LEAVE_SECONDS))
            continue;
        const struct group *group = stays_in(o, m);
        if (group)
            events_add(o->e, &(struct subnet_event){.kind = SUBNET_STAYED,
                                                    .interface = o->p->at.interface,
                                                    .group = group,
                                                    .endport = m->endport,
                                                    .member = m});
        all->members[i] = NULL;
    }
    while (all->n && !all->members[all->n - 1])
        all->n--;
}
