/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/observe.h"

#include "model/address.h"
#include "model/lifecycle.h"
#include "model/listeners.h"
#include "model/mix.h"
#include "model/observation.h"
#include "wire/nanoseconds.h"
#include "wire/nd.h"

static const struct clocks *clocks_of(const struct observation *o)
{
    return &o->f->facts.order.clocks;
}

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
    if (e->kind == SUBNET_JOIN_ASKED) {
        if (e->join_state_before & JOIN_FULL || e->pending_before)
            endport_to_write(e)->several_interfaces = true;
        connections_interface_asks(e->endport, pkey, clocks_of(o));
    }
    bool left = e->kind == SUBNET_LEFT && e->member && !(e->member->join_state & JOIN_FULL);
    if (left && !e->left_before)
        endport_interface_ended(endport_to_write(e));
    if (left && !e->member->pending) /* pending: it has asked to join again */
        connections_interface_down(e->endport, pkey, clocks_of(o), on_lifecycle, o);
    else if (e->kind == SUBNET_JOINED && e->left_before) /* its request was not captured */
        connections_interface_asks(e->endport, pkey, clocks_of(o));
}

static void on_subnet_event(void *user, const struct subnet_event *e)
{
    struct observation *o = user;
    uint32_t frame = o->p->at.frame;
    if (e->kind == SUBNET_GROUP_RECORD && e->endport && !e->request)
        subnet_add_doubt(o->f->subnet, o->p->at.interface, frame);
    if (e->kind == SUBNET_PORT_INFO && e->endport->reregister_frame == frame)
        subnet_asks_to_reregister(o->f->subnet, o->p->at.interface, frame);
    events_add(o->e, e);
    listeners_see_leave(o, e);
    follow_interface(o, e);
}

/*
 * A MAD that is truncated so early that it may be any request, including a join; or a CM message
 * that is truncated within its fields, and may set up any connection.
 */
static bool is_truncated_early(const struct packet *p)
{
    bool cm = p->mad.kind == MAD_KIND_CM && p->mad.result == WIRE_TRUNCATED;
    return cm || view_has(p->mad.bytes, 0, SA_DATA + MCM_SIZE) == WIRE_TRUNCATED;
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
           p->mad.sa.rmpp_type <= RMPP_TYPE_DATA &&
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
    bool begins_late = gsi && (!port || !(port->gsi.known || port->gsi.restarts)) && p->ib.psn != 0;
    o->e->gsi = port;
    o->e->gsi_whole = port && sequence_saw(&port->gsi, p->ib.psn, p->at.frame) == SEEN_NEXT;
    if (port && is_truncated_early(p))
        port->gsi.gap_frame = p->at.frame;
    bool missed = port && port->gsi.gap_frame == p->at.frame;
    if ((begins_late || missed) && !is_from_sa(o))
        subnet_add_doubt(o->f->subnet, p->at.interface, p->at.frame);
}

/* This MAD is the first of its port: start to count the PSNs of its GSI. */
static void follow_new_gsi(const struct observation *o)
{
    struct endport *port = find_gsi(o);
    if (!port)
        return;
    sequence_saw(&port->gsi, o->p->ib.psn, o->p->at.frame);
    if (is_truncated_early(o->p))
        port->gsi.gap_frame = o->p->at.frame;
}

static void follow_lifecycle(const struct observation *o, const struct cm *cm, struct connection *c)
{
    if (cm->message == CM_REQ)
        connection_requested(c, o->p->at.frame, clocks_of(o));
    else if (cm->message == CM_REJ && connection_is_by_requester(c, cm, o->p->src))
        connection_given_up(c);
    else if (cm->message == CM_MRA && cm->which == CM_MRA_REQ)
        connection_req_received(c);
    else if (cm->message == CM_DREQ || cm->message == CM_DREP)
        connection_ended(c, clocks_of(o));
}

static void note_unknown_connection(const struct observation *o)
{
    const struct port ends[] = {o->p->src, o->p->dst};
    for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++) {
        uint16_t lid = port_to_lid(ends[i]);
        struct endport *port = lid ? endports_get_by_lid(o->f->endports, o->p->at.interface, lid,
                                                         false)
                                   : NULL;
        if (port)
            port->has_unknown_connection = true;
    }
}

static void follow_sa(const struct observation *o)
{
    const struct packet *p = o->p;
    uint8_t method = p->mad.sa.mad.method;
    if (p->ib.sqpn == QPN_GSI && p->mad.kind == MAD_KIND_SA && p->mad.has_header &&
        method & MAD_RESPONSE && method != SA_REPORT_RESP && p->mad.sa.rmpp_type <= RMPP_TYPE_DATA)
        subnet_sa_answers(o->f->subnet, &p->src, p->ib.psn);
    if (p->ib.sqpn == QPN_GSI)
        o->e->sa_sent = subnet_sa_sent(o->f->subnet, &p->src, &p->dst, p->ib.psn,
                                       is_truncated_early(p), p->at.frame);
}

static void learn_mad(struct observation *o)
{
    const struct packet *p = o->p;
    const struct cm *cm = packet_cm(p);
    struct connection *c = p->classification.connection;
    if (packet_is_corrupt(p))
        return;
    reversals_see(&o->f->reversals, &p->mad, p->ib.psn, p->src, p->dst, &o->f->facts.order);
    if (p->ib.sqpn == QPN_SMI)
        o->e->smi = subnet_smi_sent(o->f->subnet, &p->mad, &p->src, p->ib.psn, p->at.frame,
                                    &o->e->smi_whole);
    follow_gsi(o, find_gsi(o));
    follow_sa(o);
    subnet_mad(o->f->subnet, p->at.frame, &p->mad, &p->src, &p->dst, on_subnet_event, o);
    if (!o->e->sa_sent)
        follow_sa(o); /* it may be the first packet of the SA */
    if (!o->e->gsi)
        follow_new_gsi(o);
    listeners_see_mad(o);
    if (cm && c && connection_is_ipoib(c))
        follow_lifecycle(o, cm, c);
    else if (cm && !c)
        note_unknown_connection(o);
    if (o->e->gsi)
        connections_gsi_sent(o->e->gsi, clocks_of(o), on_lifecycle, o);
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

/*
 * Is it a Neighbour Advertisement or an ARP message that was truncated before its end, or so early
 * that it may be?
 */
static bool may_be_truncated(const struct datagram *d)
{
    if (d->header == WIRE_OK && d->encap.type == TYPE_ARP)
        return d->arp_result == WIRE_TRUNCATED;
    if (d->header == WIRE_OK && d->encap.type == TYPE_IPV6)
        return nd_may_be_truncated_na(d->body);
    return d->header == WIRE_TRUNCATED;
}

/* A corrupt packet may have ended the lease, unless the next one is the same packet. */
static void follow_lease(struct qp *qp, const struct packet *p, bool corrupt)
{
    uint32_t number = p->ib.psn + 1;
    if (qp->sequence.gap_frame == p->at.frame || (qp->corrupt && qp->corrupt != number))
        qp->dhcp_address = 0;
    qp->corrupt = corrupt ? number : 0;
}

/* A corrupt datagram counts in the sequence, but shows nothing else. */
static void follow_qp(const struct observation *o, struct qp *qp, bool to_group)
{
    const struct packet *p = o->p;
    bool corrupt = packet_is_corrupt(p);
    o->e->sender_qp = *qp;
    o->e->sender_seen = qp_sent(qp, p->ib.psn, corrupt, p->at.frame, p->at.ns);
    if (o->e->sender_seen == SEEN_NONE)
        return;
    if (to_group)
        qp->group_frame = p->at.frame;
    if (to_group && !corrupt)
        qp->endport = o->e->sender;
    if (may_be_truncated(&p->datagram))
        qp_has_gap(qp, p->at.frame, p->at.ns);
    follow_lease(qp, p, corrupt);
}

/* The address that the client has, or is about to have, after this message of it. */
static uint32_t dhcp_address_after(const struct datagram *g, uint32_t before)
{
    const struct dhcp *d = &g->dhcp;
    bool to_link = dhcp_is_to_this_link(g->body, d);
    if (to_link && d->message_type == DHCP_REQUEST)
        return d->ciaddr ? d->ciaddr : d->requested;
    bool keeps = to_link ? d->message_type == DHCP_INFORM
                         : d->message_type != DHCP_RELEASE || d->ciaddr != before;
    return keeps ? before : 0;
}

/* The client's lease, after this message of its QP or of a server. */
static void learn_lease(const struct observation *o, struct qp *qp)
{
    const struct datagram *g = &o->p->datagram;
    const struct dhcp *d = &g->dhcp;
    qp->dhcp_address = dhcp_address_after(g, qp->dhcp_address);
    bool asks = d->op == DHCP_BOOTREQUEST && d->message_type == DHCP_REQUEST;
    if (asks && (dhcp_is_to_this_link(g->body, d) || d->ciaddr == qp->dhcp_address))
        qpns_lease_requested(o->f->qpns, qp, d->xid);
    if (d->op == DHCP_BOOTREPLY && d->message_type == DHCP_ACK && d->yiaddr)
        qpns_lease_granted(o->f->qpns, o->p->at.interface, d->xid, d->yiaddr);
}

/* NULL: it is not an interface's for certain, or the table is full. */
static struct qp *learn_new_qp(const struct observation *o)
{
    const struct packet *p = o->p;
    if (mgid_is_other(p->ib.dgid) || packet_is_corrupt(p))
        return NULL;
    struct qp *qp = qpns_learn(o->f->qpns, &p->src, p->ib.sqpn);
    if (!qp)
        return NULL;
    qp_sent(qp, p->ib.psn, false, p->at.frame, p->at.ns);
    if (may_be_truncated(&p->datagram))
        qp_has_gap(qp, p->at.frame, p->at.ns);
    return qp;
}

static void learn_source(const struct observation *o, struct qp *qp)
{
    struct ip source, destination;
    if (datagram_ips(&o->p->datagram, &source, &destination) && !ip_is_unspecified(&source) &&
        !source_is_link_local(&source))
        qp->source = ip_digest(&source);
}

/* The values of its last datagram. */
static void learn_qp_keys(const struct observation *o, struct qp *qp, bool to_group)
{
    const struct ib_packet *ib = &o->p->ib;
    if (to_group) {
        qp->scope = ib->dgid[MGID_FLAGS_SCOPE] & 0x0f;
        qp->group_frame = o->p->at.frame;
        qp->endport = o->e->sender;
    } else if (qp->pkey != ib->pkey) {
        qp->scope = 0;
    }
    qp->pkey = ib->pkey;
    qp->qkey = ib->qkey;
    learn_source(o, qp);
    const struct datagram *d = &o->p->datagram;
    if (d->dhcp_result == WIRE_OK)
        learn_lease(o, qp);
    else if (d->body.cap < d->body.len) /* it may be a release */
        qp->dhcp_address = 0;
}

static void learn_qp(const struct observation *o, bool to_group)
{
    const struct packet *p = o->p;
    struct qp *qp = qpns_get(o->f->qpns, &p->src, p->ib.sqpn);
    o->e->has_sender_qp = qp != NULL;
    if (qp)
        follow_qp(o, qp, to_group);
    else
        qp = learn_new_qp(o);
    if (qp && !packet_is_corrupt(p))
        learn_qp_keys(o, qp, to_group);
}

static void learn_sa_interface(const struct observation *o)
{
    const struct packet *p = o->p;
    const struct sa_sequence *q = subnet_sa_sequence(o->f->subnet, p->at.interface);
    bool is_new = q && !q->has_interface &&
                  port_to_lid(p->src) == subnet_sa_lid(o->f->subnet, p->at.interface);
    if (is_new && !packet_is_corrupt(p))
        subnet_sent_ipoib(o->f->subnet, &p->src);
}

static void learn_ud(const struct observation *o)
{
    const struct packet *p = o->p;
    const struct ib_packet *ib = &p->ib;
    bool to_group = ib->dgid && mgid_is_ipoib(ib->dgid);
    if (to_group) {
        if (!packet_is_corrupt(p))
            qpns_learn_link_key(o->f->qpns, p->at.interface, ib);
        struct endport *sender = learn_sender(o);
        o->e->sender = sender;
        groups_get(o->f->groups, p->at.interface, ib->dgid, true);
        learn_listeners(o, sender);
    }
    if (p->datagram.header == WIRE_OK)
        learn_addresses(o);
    if (!to_group)
        learn_stale_use(o);
    learn_qp(o, to_group);
    listeners_see_datagram(o);
    learn_sa_interface(o);
}

static void learn_connected(struct observation *o)
{
    const struct packet *p = o->p;
    struct connection *c = p->classification.connection;
    if (!packet_begins_message(p))
        return;
    if (c)
        connection_data(c, clocks_of(o), on_lifecycle, o);
    if (p->classification.class == PAYLOAD_IPOIB && p->datagram.header == WIRE_OK)
        learn_addresses(o);
}

/* Without InfiniBand headers, a packet shows only link-layer addresses. */
static void observe_without_ib(struct observation *o, struct packet *p)
{
    fabric_place(o->f, p);
    if (p->datagram.header == WIRE_OK || p->datagram.header == WIRE_FOREIGN)
        learn_addresses(o);
}

static void learn(struct observation *o)
{
    const struct packet *p = o->p;
    switch (p->classification.class) {
    case PAYLOAD_MAD:
        learn_mad(o);
        break;
    case PAYLOAD_IPOIB:
        if (p->ib.transport == IB_UD)
            learn_ud(o);
        else
            learn_connected(o);
        break;
    case PAYLOAD_FRAGMENT:
        learn_connected(o);
        break;
    case PAYLOAD_NONE:
    case PAYLOAD_OTHER:
    case PAYLOAD_FOREIGN:
        break;
    }
}

static enum copied_kind copied_kind(const struct ib_packet *ib)
{
    if (ib->transport != IB_UD)
        return COPIED_CONNECTED;
    return ib->dlid >= LID_MULTICAST_FIRST && ib->dlid != LID_PERMISSIVE ? COPIED_TO_GROUP
                                                                         : COPIED_DATAGRAM;
}

static void count_direction(struct fabric *f, const struct ib_packet *ib)
{
    if (!ib->has_lrh || ib->dlid >= LID_MULTICAST_FIRST)
        return;
    bool is_first = !f->n_to_ports++;
    f->one_slid = is_first || f->one_slid == ib->slid ? ib->slid : 0;
    f->one_dlid = is_first || f->one_dlid == ib->dlid ? ib->dlid : 0;
}

/* Such a copy has come. Copies of MADs are judged by themselves (model/reversal.h). */
static void note_two_clocks(struct fabric *f, const struct packet *p)
{
    uint32_t frame;
    if (!order_has_copies(&f->facts.order) && delivered_late(&f->delivered, &frame))
        order_of_two_clocks(&f->facts.order, interfaces_subnet(f->interfaces, p->captured_on));
}

static void count_copied(struct fabric *f, const struct packet *p)
{
    struct copied *c = &f->copied[copied_kind(&p->ib)];
    c->packets++;
    int64_t after_ns = p->copy_of ? p->at.ns - f->copied_ns : 0;
    delivered_see(&f->delivered, p, after_ns);
    if (!p->copy_of)
        return;
    if (delivered_is_late(after_ns))
        note_two_clocks(f, p);
    if (p->may_be_sent_again)
        return;
    c->copies++;
    if (!f->first_copy)
        f->first_copy = p->at.frame;
}

/* Where the tables of transactions look for it. */
static void place_transaction(struct fabric *f, const struct packet *p)
{
    const struct mad *m = &p->mad.mad;
    const struct port requester = m->method & MAD_RESPONSE ? p->dst : p->src;
    if (p->classification.class == PAYLOAD_MAD && p->mad.kind == MAD_KIND_SA)
        f->facts.transaction = (unsigned)(mix_two(0, requester.id, m->tid) >> 32);
}

void fabric_observe(struct fabric *f, struct packet *p, struct events *e)
{
    struct observation o = {f, p, e};
    events_clear(e);
    f->undone.frame = p->at.frame;
    f->facts.end_of_route.id = 0;
    if (p->captured_on == INTERFACE_NONE) {
        undone_refuse(&f->undone, UNDONE_INTERFACES);
        fabric_classify_alone(p);
        return;
    }
    if (packet_lacks_ib(p)) {
        observe_without_ib(&o, p);
        unseen_packet(f, p);
        return;
    }
    fabric_classify(f, p);
    place_transaction(f, p);
    count_direction(f, &p->ib);
    if (p->digest)
        count_copied(f, p);
    if (p->copy_of)
        return;
    unseen_packet(f, p);
    learn(&o);
    if (!packet_is_known_corrupt(p))
        copies_add(f->copies, p);
}
