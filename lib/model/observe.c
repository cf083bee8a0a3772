/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/observe.h"

#include "model/lifecycle.h"
#include "model/observation.h"
#include "wire/membership.h"
#include "wire/nanoseconds.h"

enum { QPN_SMI, QPN_GSI };

static void on_lifecycle(void *user, struct connection *c)
{
    const struct observation *o = user;
    events_add(o->e, &(struct subnet_event){.kind = SUBNET_TEARDOWN, .connection = c});
}

/* ---- management */

/* An interface exists as long as its port is a FullMember of the broadcast group. */
static void follow_interface(struct observation *o, const struct subnet_event *e)
{
    if (!e->group || !e->endport || !group_is_broadcast(e->group))
        return;
    uint16_t pkey = be16(e->group->mgid + MGID_PKEY);
    if (e->kind == SUBNET_LEFT && !(e->member_record.join_state & JOIN_FULL))
        connections_interface_down(e->endport, pkey, o->p->at.ns, on_lifecycle, o);
    else if (e->kind == SUBNET_JOINED && e->left_before)
        connections_interface_up(e->endport, pkey, on_lifecycle, o);
}

static void on_subnet_event(void *user, const struct subnet_event *e)
{
    struct observation *o = user;
    uint32_t frame = o->p->at.frame;
    if (e->kind == SUBNET_GROUP_TOLD && e->endport && !e->request)
        fabric_doubt(o->f, frame);
    if (e->kind == SUBNET_PORT_INFO && e->endport->reregister_frame == frame)
        o->f->facts.doubt_frame = frame;
    events_add(o->e, e);
    follow_interface(o, e);
}

/* A MAD that is truncated so early that it may be any request, including a join. */
static bool is_truncated_early(const struct packet *p)
{
    return view_has(p->mad.octets, 0, SA_DATA + MCM_SIZE) == WIRE_TRUNCATED;
}

/*
 * Sent by the SA: from its LID, or a response or report. It sends no requests that the model
 * follows.
 */
static bool is_from_sa(const struct observation *o)
{
    const struct packet *p = o->p;
    uint8_t method = p->mad.sa.mad.method;
    if (port_to_lid(p->src) == subnet_sa_lid(o->f->subnet, p->at.interface))
        return true;
    return p->mad.kind == MAD_KIND_SA && p->mad.has_header &&
           (method == SA_REPORT || (method & MAD_RESPONSE && method != SA_REPORT_RESP));
}

static struct endport *find_gsi(const struct observation *o)
{
    uint16_t lid = o->p->ib.sqpn == QPN_GSI ? port_to_lid(o->p->src) : 0;
    return lid ? endports_get_by_lid(o->f->endports, o->p->at.interface, lid, false) : NULL;
}

/* port: the sender; NULL: not known before this packet. */
static void follow_gsi(const struct observation *o, struct endport *port)
{
    const struct packet *p = o->p;
    bool gsi = p->ib.sqpn == QPN_GSI && port_to_lid(p->src);
    bool begins_late = gsi && (!port || !port->gsi_psn) && p->ib.psn != 0;
    o->e->gsi = port;
    o->e->gsi_whole = port && endport_gsi_sent(port, p->ib.psn, p->at.frame);
    if (port && is_truncated_early(p))
        port->gap_frame = p->at.frame;
    bool missed = port && port->gap_frame == p->at.frame;
    if ((begins_late || missed) && !is_from_sa(o))
        fabric_doubt(o->f, p->at.frame);
}

/* This MAD is the first of its port: start to count the PSNs of its GSI. */
static void follow_new_gsi(const struct observation *o)
{
    struct endport *port = find_gsi(o);
    if (!port)
        return;
    endport_gsi_sent(port, o->p->ib.psn, o->p->at.frame);
    if (is_truncated_early(o->p))
        port->gap_frame = o->p->at.frame;
}

static void learn_mad(struct observation *o)
{
    const struct packet *p = o->p;
    const struct cm *cm = packet_cm(p);
    struct connection *c = p->verdict.connection;
    if (packet_is_corrupt(p))
        return;
    if (p->ib.sqpn == QPN_SMI)
        o->e->smi = subnet_smi_sent(o->f->subnet, &p->mad, &p->src, p->ib.psn, p->at.ns,
                                    &o->e->smi_whole);
    follow_gsi(o, find_gsi(o));
    subnet_mad(o->f->subnet, p->at.frame, &p->mad, &p->src, &p->dst, on_subnet_event, o);
    if (!o->e->gsi)
        follow_new_gsi(o);
    if (cm && cm->message == CM_REQ && c && connection_is_ipoib(c))
        connection_requested(c, p->at.frame, p->at.ns);
}

/* ---- datagrams */

/*
 * Find the sender by its GID, and learn its LID, which may have changed. Several GIDs may share a
 * LID: alias GUIDs of virtual functions (IBA 4.1.1). For a GID of another subnet, the LID is a
 * router's and is not learnt.
 */
static struct endport *learn_sender(const struct observation *o)
{
    const struct packet *p = o->p;
    const struct ib_packet *ib = &p->ib;
    struct endports *all = o->f->endports;
    struct endport *sender = endports_get_by_gid(all, p->at.interface, ib->sgid, false);
    if (!ib->has_lrh || (sender && endport_has_lid(sender, ib->slid)) || packet_is_corrupt(p))
        return sender;
    const struct endport *by_lid = endports_get_by_lid(all, p->at.interface, ib->slid, false);
    if (by_lid && endport_has_gid(by_lid) && memcmp(by_lid->gid, ib->sgid, GID_SIZE / 2) != 0)
        return sender;
    return endports_learn(all, p->at.interface, ib->slid, ib->sgid);
}

static void learn_listener(const struct observation *o, const struct membership *listens,
                           struct endport *sender)
{
    const struct packet *p = o->p;
    uint32_t now = (uint32_t)(p->at.ns / NANOSECONDS);
    struct listener *l = events_add_listener(o->e);
    mgid_of_group(l->mgid, p->ib.dgid, listens->group, listens->length);
    struct group *g = groups_get(o->f->groups, p->at.interface, l->mgid, false);
    struct member *m = g && sender ? groups_get_member(o->f->groups, g, sender, false) : NULL;
    l->member = m;
    if (!m)
        return;
    l->reported_before = m->reported;
    if (!m->reported && m->join_state && member_is_known(m) && !packet_is_corrupt(p))
        m->reported = now ? now : 1;
}

/*
 * Learn the sender's IGMP and MLD reports. The SA's own port is skipped, because its joins are not
 * on the wire.
 */
static void learn_listeners(const struct observation *o, struct endport *sender)
{
    const struct packet *p = o->p;
    const struct datagram *d = &p->datagram;
    bool sa = p->ib.has_lrh && p->ib.slid == subnet_sa_lid(o->f->subnet, p->at.interface);
    struct membership_iter it;
    struct membership listens;
    if (d->header != WIRE_OK || (d->encap.type != TYPE_IPV4 && d->encap.type != TYPE_IPV6) ||
        !membership_begin(d->body, &it))
        return;
    while (membership_next(&it, &listens))
        if (listens.joins)
            learn_listener(o, &listens, sa ? NULL : sender);
}

static void learn_qp(const struct observation *o, bool to_group)
{
    const struct packet *p = o->p;
    const struct ib_packet *ib = &p->ib;
    struct qp *qp = qpns_get(o->f->qpns, &p->src, ib->sqpn);
    o->e->has_sender_qp = qp != NULL;
    if (qp) {
        o->e->sender_qp = *qp;
        if (qp_continues(qp, ib->psn) || !packet_is_corrupt(p))
            qp_sent(qp, ib->psn, p->at.frame);
    }
    bool is_new = !qp, same_keys = qp && qp->pkey == ib->pkey && qp->qkey == ib->qkey;
    uint8_t before = qp && qp->pkey == ib->pkey ? qp->scope : 0;
    uint8_t scope = to_group ? ib->dgid[MGID_FLAGS_SCOPE] & 0x0f : before;
    if ((same_keys && qp->scope == scope) || packet_is_corrupt(p))
        return;
    qp = qpns_learn(o->f->qpns, &p->src, ib->sqpn);
    if (!qp)
        return;
    if (is_new)
        qp_sent(qp, ib->psn, p->at.frame);
    qp->pkey = ib->pkey;
    qp->qkey = ib->qkey;
    qp->scope = scope;
}

static void learn_ud(const struct observation *o)
{
    const struct packet *p = o->p;
    const struct ib_packet *ib = &p->ib;
    bool to_group = ib->dgid && mgid_is_ipoib(ib->dgid);
    if (to_group) {
        struct endport *sender = learn_sender(o);
        o->e->sender = sender;
        groups_get(o->f->groups, p->at.interface, ib->dgid, true);
        learn_listeners(o, sender);
    }
    if (p->datagram.header == WIRE_OK)
        learn_addresses(o);
    learn_qp(o, to_group);
}

static void learn_connected(struct observation *o)
{
    const struct packet *p = o->p;
    struct connection *c = p->verdict.connection;
    if (!packet_begins_message(p))
        return;
    if (c)
        connection_data(c, p->at.ns, on_lifecycle, o);
    if (p->verdict.class == PAYLOAD_IPOIB && p->datagram.header == WIRE_OK)
        learn_addresses(o);
}

/* Without InfiniBand headers, a packet shows only link-layer addresses. */
static void observe_bare(struct observation *o, struct packet *p)
{
    fabric_place(o->f, p);
    if (p->datagram.header == WIRE_OK || p->datagram.header == WIRE_FOREIGN)
        learn_addresses(o);
}

void fabric_observe(struct fabric *f, struct packet *p, struct events *e)
{
    struct observation o = {f, p, e};
    events_clear(e);
    if (packet_is_bare(p)) {
        observe_bare(&o, p);
        return;
    }
    fabric_classify(f, p);
    switch (p->verdict.class) {
    case PAYLOAD_MAD:
        learn_mad(&o);
        break;
    case PAYLOAD_IPOIB:
        if (p->ib.transport == IB_UD)
            learn_ud(&o);
        else
            learn_connected(&o);
        break;
    case PAYLOAD_PART:
        learn_connected(&o);
        break;
    case PAYLOAD_NONE:
    case PAYLOAD_OTHER:
    case PAYLOAD_FOREIGN:
        break;
    }
}
