/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/fabric.h"

#include <stdio.h>

#include "model/fabric_state.h"
#include "model/lifecycle.h"
#include "wire/encap.h"
#include "wire/erf.h"
#include "wire/mgid.h"

static void make_tables(struct fabric *f)
{
    const struct fabric_limits *l = &f->limits;
    struct undone *u = &f->undone;
    f->endports = endports_new(l->endports, u);
    f->groups = groups_new(l->groups, u);
    f->subnet = subnet_new(f->groups, f->endports, l->routes, u);
    f->qpns = qpns_new(l->qpns, u);
    f->connections = connections_new(l->connections, f->endports, f->qpns, u);
    connections_streams(f->connections)->less = l->less_streams;
    f->neighbours = neighbours_new(l->neighbours, u);
    f->resolutions = resolutions_new();
    f->sources = sources_new(l->sources, u);
    f->stale = stale_new(l->stale_uses, u);
    f->psn_gaps = psn_gaps_new(f->endports);
    f->transfers = transfers_new();
    f->waiting = waiting_new();
    f->waiting_smps = waiting_new();
    f->copies = copies_new();
    f->reversals.undone = u;
}

struct fabric *fabric_new(void)
{
    static const struct fabric_limits limits = FABRIC_LIMITS;
    return fabric_new_limited(&limits);
}

struct fabric *fabric_new_limited(const struct fabric_limits *limits)
{
    struct fabric *f = g_new0(struct fabric, 1);
    f->limits = *limits;
    make_tables(f);
    f->facts = (struct fabric_facts){.endports = f->endports,
                                     .groups = f->groups,
                                     .subnet = f->subnet,
                                     .connections = f->connections,
                                     .neighbours = f->neighbours,
                                     .resolutions = f->resolutions,
                                     .stale = f->stale,
                                     .qpns = f->qpns,
                                     .psn_gaps = f->psn_gaps,
                                     .undone = &f->undone};
    fabric_take_interfaces(f, INTERFACES_AUTO);
    return f;
}

void fabric_free(struct fabric *f)
{
    if (!f)
        return;
    connections_free(f->connections);
    neighbours_free(f->neighbours);
    resolutions_free(f->resolutions);
    qpns_free(f->qpns);
    sources_free(f->sources);
    psn_gaps_free(f->psn_gaps);
    g_free(f->transfers);
    g_free(f->waiting);
    g_free(f->waiting_smps);
    copies_free(f->copies);
    stale_free(f->stale);
    reversals_clear(&f->reversals);
    g_free(f->evidence);
    interfaces_free(f->interfaces);
    subnet_free(f->subnet);
    groups_free(f->groups);
    endports_free(f->endports);
    g_free(f);
}

void fabric_take_interfaces(struct fabric *f, enum interfaces_mode mode)
{
    g_free(f->evidence);
    interfaces_free(f->interfaces);
    f->facts.interfaces = f->interfaces = interfaces_new(mode, f->limits.interfaces, &f->undone);
    f->evidence = mode == INTERFACES_AUTO ? evidence_new(f->interfaces) : NULL;
}

const struct fabric_facts *fabric_facts(const struct fabric *f)
{
    return &f->facts;
}

struct undone *fabric_undone(struct fabric *f)
{
    return &f->undone;
}

void fabric_take_records_as_current(struct fabric *f)
{
    f->facts.records_are_current = true;
}

uint16_t fabric_enter_interface(struct fabric *f, struct capture_interface captured)
{
    uint16_t number;
    interfaces_enter(f->interfaces, captured, &number);
    return number;
}

static void set_ports(struct packet *p, const struct port *outer_src, const struct port *outer_dst)
{
    if (p->ib.has_lrh) {
        p->src = port_lid(p->at.interface, p->ib.slid);
        p->dst = port_lid(p->at.interface, p->ib.dlid);
    } else if (p->ib.has_grh) {
        p->src = port_gid(p->at.interface, p->ib.sgid);
        p->dst = port_gid(p->at.interface, p->ib.dgid);
    } else {
        p->src = *outer_src;
        p->dst = *outer_dst;
    }
}

/*
 * Classification without context: a datagram is IPoIB if its group is, or if its contents match its
 * Type.
 */
static enum payload_class datagram_alone(const struct ib_packet *ib, struct datagram *d)
{
    if (ib->immediate)
        return PAYLOAD_OTHER;
    if (ib->dgid && mgid_is_ipoib(ib->dgid))
        return PAYLOAD_IPOIB;
    d->agrees = encap_agrees(ib->payload);
    return d->agrees ? PAYLOAD_IPOIB : PAYLOAD_OTHER;
}

/* Decode the payload by its transport, before the classification is known. */
static void decode_payload(struct packet *p)
{
    const struct ib_packet *ib = &p->ib;
    if (ib_is_mad(ib))
        mad_payload_decode(ib->payload, &p->mad);
    else if (ib->transport == IB_UD || (ib->kind == IB_KIND_SEND && ib->position == IB_ONLY))
        datagram_decode(ib->payload, &p->datagram);
    else if (ib->kind == IB_KIND_SEND && ib->position == IB_FIRST)
        datagram_decode_header(ib->payload, &p->datagram);
    else
        p->datagram.header = WIRE_FOREIGN;
}

void packet_read(struct packet *p, const struct capture_position *at, struct view v,
                 enum ib_start start, const struct port *outer_src, const struct port *outer_dst)
{
    memset(p, 0, sizeof *p);
    p->at = *at;
    p->captured_on = at->interface;
    p->bytes = v;
    p->result = ib_decode(v, start, &p->ib);
    if (p->ib.has_bth)
        set_ports(p, outer_src, outer_dst);
    if (p->result != WIRE_OK)
        return;
    decode_payload(p);
    if (ib_is_mad(&p->ib))
        p->classification.class = PAYLOAD_MAD;
    else if (p->ib.transport == IB_UD)
        p->classification.class = datagram_alone(&p->ib, &p->datagram);
    else if (p->ib.transport == IB_RC || p->ib.transport == IB_UC)
        p->classification.class = PAYLOAD_OTHER;
}

void packet_read_without_ib(struct packet *p, const struct capture_position *at,
                            const struct link_frame *c)
{
    uint32_t before = (uint32_t)(c->inner.p - link_frame_start(c));
    memset(p, 0, sizeof *p);
    p->at = *at;
    p->captured_on = at->interface;
    p->bytes = view_make(link_frame_start(c), c->inner.cap + before, c->inner.len + before);
    p->pseudo_dgid = c->dgid;
    p->classification.class = PAYLOAD_IPOIB;
    if (c->kind == LINK_FRAME_IPOIB)
        datagram_decode(c->inner, &p->datagram);
    else
        datagram_decode_body(c->type, c->inner, &p->datagram);
}

void packet_read_frame(struct packet *p, const struct capture_position *at,
                       const struct link_frame *c)
{
    struct port src = {0}, dst = {0};
    if (c->kind != LINK_FRAME_IB) {
        packet_read_without_ib(p, at, c);
        return;
    }
    if (c->outer.length) { /* RoCE v2 */
        src = port_ip(at->interface, c->outer.src, c->outer.length);
        dst = port_ip(at->interface, c->outer.dst, c->outer.length);
    }
    packet_read(p, at, c->inner, c->start, &src, &dst);
}

/*
 * Writes the memo although the packet is const for readers. This is safe because no packet is
 * defined const.
 */
enum integrity packet_find_integrity(const struct packet *p)
{
    struct integrity_memo *memo = (struct integrity_memo *)&p->integrity;
    *memo = (struct integrity_memo){true, integrity_of(p->crcs_count, p->bytes, &p->ib)};
    return memo->is;
}

/*
 * Is this a known IPoIB QP with the same Q_Key as before? Another program may have its number now.
 */
static bool is_known_qp(const struct fabric *f, const struct port *port, uint32_t qpn,
                        uint32_t qkey)
{
    const struct qp *qp = qpns_find(f->qpns, port, qpn);
    return qp && (qp->pkey == 0 || qp->qkey == qkey);
}

/*
 * The table of QPs is full. Has the packet the keys of an IPoIB link? Then its QPs are interfaces',
 * as far as this is known.
 */
static bool has_keys_of_link(const struct fabric *f, const struct packet *p)
{
    return undone_why(&f->undone, UNDONE_SET(QPS)) &&
           qpns_has_link_key(f->qpns, p->at.interface, &p->ib);
}

static void classify_datagram(struct fabric *f, struct packet *p)
{
    const struct ib_packet *ib = &p->ib;
    if (p->classification.class == PAYLOAD_IPOIB) {
        /* another protocol's payload may look like IPoIB */
        if (!mgid_is_other(ib->dgid) && !qpns_find(f->qpns, &p->src, ib->sqpn) &&
            !packet_is_corrupt(p))
            qpns_learn(f->qpns, &p->src, ib->sqpn);
    } else if (!ib->immediate &&
               (is_known_qp(f, &p->src, ib->sqpn, ib->qkey) ||
                is_known_qp(f, &p->dst, ib->dqpn, ib->qkey) || has_keys_of_link(f, p))) {
        p->classification.class = PAYLOAD_IPOIB;
        p->classification.by_context = true;
    }
}

/*
 * May the data on the QPs of a connection be its own? After its end, packets may still be in
 * transit, or belong to another connection.
 */
static bool may_have_qps(const struct connection *c)
{
    return !connection_is_over(c) && !connection_may_be_replaced(c);
}

/*
 * Is the data the connection's, whatever its contents? After a pause, a later connection whose
 * set-up was not captured may have the QPs. Its PSNs start anywhere in 24 bits (IBA 9.7.2): one of
 * 32 starts near the last PSN, but hardly any with the next one (flow_goes_on()). An
 * implementation may always start with the same: then it has the next one if as many of its
 * messages were missed as the earlier connection sent, so these must be several (FLOW_LIKELY).
 */
static bool is_owned(const struct fabric *f, const struct connection *c, bool goes_on)
{
    bool sure = f->facts.records_are_current || connection_has_qps(c, &f->facts.order.clocks);
    return sure ? !connection_is_over(c) : goes_on && may_have_qps(c);
}

/* A whole ARP message with IPoIB's addresses. */
static bool is_arp_of_ipoib(const struct datagram *d)
{
    return d->header == WIRE_OK && d->encap.type == TYPE_ARP && d->encap.reserved == 0 &&
           d->arp_result == WIRE_OK && d->arp.hrd == ARP_HRD_INFINIBAND &&
           d->arp.hln == LLADDR_SIZE && !arp_contradicts_protocol(&d->arp);
}

/* Does the packet begin a message that looks like IPoIB? */
static bool looks_like_ipoib(const struct packet *p)
{
    const struct ib_packet *ib = &p->ib;
    bool first = ib->position == IB_FIRST;
    return ib_begins_message(ib) &&
           (encap_begins_message(ib->payload, first) || (!first && is_arp_of_ipoib(&p->datagram)));
}

bool packet_has_wrong_field(const struct packet *p)
{
    const struct ib_packet *ib = &p->ib;
    return p->classification.class == PAYLOAD_OTHER && !p->classification.connection &&
           (ib->transport == IB_RC || ib->transport == IB_UC) && ib_begins_message(ib) &&
           encap_has_wrong_field(ib->payload, ib->position == IB_FIRST);
}

/* After a packet that looked like IPoIB: a message with a known Type. */
static bool is_likely(const struct packet *p, const struct flow *flow, bool next)
{
    const struct datagram *d = &p->datagram;
    return next && flow->looked_ipoib && d->header == WIRE_OK && d->encap.type >= TYPE_FIRST &&
           d->encap.reserved == 0;
}

static enum payload_class classify_part(struct fabric *f, struct packet *p, struct flow *flow,
                                        bool ours, bool begins)
{
    const struct ib_packet *ib = &p->ib;
    struct stream_result *part = &p->classification.fragment;
    *part = stream_packet(&flow->stream, connections_streams(f->connections), ib->position, ib->psn,
                          ib->payload.len, begins);
    if (part->state == STREAM_ORPHAN)
        return ours ? PAYLOAD_FRAGMENT : PAYLOAD_OTHER;
    return part->ipoib ? PAYLOAD_FRAGMENT : PAYLOAD_OTHER;
}

/* By its contents: the tables of the model are full, so its connection is not known. */
static void classify_connected_alone(struct packet *p)
{
    struct classification *v = &p->classification;
    v->by_context = looks_like_ipoib(p);
    if (!v->by_context)
        return;
    v->class = p->ib.position == IB_ONLY ? PAYLOAD_IPOIB : PAYLOAD_FRAGMENT;
    v->fragment = (struct stream_result){.state = STREAM_FRAGMENT, .ipoib = true};
}

void fabric_classify_alone(struct packet *p)
{
    if (p->result == WIRE_OK && (p->ib.transport == IB_RC || p->ib.transport == IB_UC))
        classify_connected_alone(p);
}

/*
 * Was the packet sent by an end of the flow's connection, as far as the capture shows its LIDs? An
 * older connection of the receiving QP may have ended without the knowledge of its other end, as
 * after a restart of the receiver. That end goes on to send for a time, in UC for ever.
 */
static bool is_from_end(const struct fabric *f, const struct packet *p, const struct flow *flow)
{
    const struct connection *c = flow->connection;
    const struct connection_side *sender = flow->to_requester ? &c->responder : &c->requester;
    const struct endport *end = c->endport[flow->to_requester ? 1 : 0];
    const struct endport *receiver = c->endport[flow->to_requester ? 0 : 1];
    if (port_same(p->src, sender->flow.id.port))
        return true;
    if (!end || !receiver) /* only IPoIB's connections have endports */
        return true;
    if (memcmp(end->gid, receiver->gid, GID_SIZE / 2) != 0) /* the LID is a router's */
        return true;
    if (p->ib.has_lrh && endport_has_lid(end, p->ib.slid))
        return true;
    /* a path of the connection may have another LID, which receives for the same QP */
    const struct flow *back = connections_flow(f->connections, &p->src, sender->flow.id.number,
                                               false);
    return back && back->connection == c;
}

/*
 * The flow of a connection whose set-up was not captured. Acknowledgements belong to the data of
 * the other direction. IPoIB has no RDMA, atomic operations or immediate data (RFC 4755).
 */
static void count_consecutive(struct flow *flow, const struct ib_packet *ib, bool looks, bool next)
{
    bool send = ib->kind == IB_KIND_SEND && !ib->immediate;
    if (ib->opcode == OPCODE_ACKNOWLEDGE)
        return;
    if (looks)
        flow->consecutive = MIN((next ? flow->consecutive : 0) + 1u, FLOW_RECOGNISED);
    else if (!send || !next || (ib_begins_message(ib) && flow->consecutive < FLOW_RECOGNISED))
        flow->consecutive = 0;
}

/*
 * Does the packet begin a message that does not look like IPoIB, on a flow that is recognised? Its
 * connection is not known, or has ended.
 */
static bool is_by_flow(const struct packet *p, const struct flow *flow, bool next)
{
    const struct connection *c = flow->connection;
    return ib_begins_message(&p->ib) && flow->consecutive == FLOW_RECOGNISED && next &&
           (!c || (connection_is_ipoib(c) && connection_is_over(c))) && !packet_is_corrupt(p);
}

/* By the RTU, or data. What the responder sent just before may have been sent after that. */
static void responder_may_send(const struct fabric *f, struct connection *c)
{
    uint32_t *frame = &c->requester.flow.early_frame;
    if (order_is_uncertain(&f->facts.order, *frame))
        *frame = 0;
}

/* The responder may send after the RTU (IBA 12.6.9), or the first data. */
static bool is_before_rtu(const struct flow *flow)
{
    const struct connection *c = flow->connection;
    return c && flow->to_requester && connection_is_open(c) && !c->rtu_frame &&
           !c->responder.flow.sequence.first_frame;
}

static bool is_first_data(const struct flow *flow)
{
    return flow->connection && !flow->to_requester &&
           !flow->connection->responder.flow.sequence.first_frame;
}

static bool is_ended(const struct flow *flow)
{
    return flow->connection && flow->connection->dreq_frame && flow->connection->drep_frame;
}

/* An ACK, and no NAK (IBA 9.7.5.1): the upper three bits of its syndrome are 0. */
static bool is_ack(const struct packet *p)
{
    uint32_t at = p->ib.bth_off + BTH_SIZE;
    return p->ib.opcode == OPCODE_ACKNOWLEDGE && view_has(p->bytes, at, AETH_SIZE) == WIRE_OK &&
           p->bytes.p[at] >> 5 == 0 && !packet_is_corrupt(p);
}

static void classify_connected(struct fabric *f, struct packet *p)
{
    const struct ib_packet *ib = &p->ib;
    struct classification *v = &p->classification;
    bool send = ib->kind == IB_KIND_SEND && !ib->immediate;
    bool looks = looks_like_ipoib(p);
    struct flow *flow = connections_flow(f->connections, &p->dst, ib->dqpn, false);

    if (!flow && looks && !packet_is_corrupt(p))
        flow = connections_flow(f->connections, &p->dst, ib->dqpn, true);
    if (!flow && looks && !packet_is_corrupt(p))
        classify_connected_alone(p);
    if (!flow)
        return;
    if (flow->connection && !is_from_end(f, p, flow)) {
        v->by_context = looks && ib->position == IB_ONLY;
        if (v->by_context)
            v->class = PAYLOAD_IPOIB;
        return;
    }
    bool next = flow_is_next(flow, ib->psn), acknowledged = flow_is_acknowledged(flow);
    bool goes_on = flow_goes_on(flow, ib->psn);
    bool was_ours = flow->connection && connection_is_ipoib(flow->connection);
    if (send && is_first_data(flow))
        responder_may_send(f, flow->connection);
    if (send && packet_is_corrupt(p))
        flow_sees_corrupt(flow, ib->psn, p->at.frame);
    else if (send)
        flow_sees(flow, ib->psn, looks, p->at.frame);
    else if (is_ack(p))
        flow_takes_ack(flow, ib->psn);
    v->connection = flow->connection;
    v->to_requester = flow->to_requester;
    v->is_released = was_ours && !flow->connection;
    if (looks && next && is_ended(flow) && flow->several && !packet_is_corrupt(p))
        connection_sent_after_end(flow->connection, !flow->to_requester, acknowledged,
                                  &f->facts.order.clocks);
    bool ipoib = v->connection && connection_is_ipoib(v->connection);
    bool ours = ipoib && is_owned(f, v->connection, goes_on);
    bool begins = ours || looks || is_likely(p, flow, next);
    bool by_flow = !begins && is_by_flow(p, flow, next);
    if (v->connection && !ipoib)
        v->class = PAYLOAD_FOREIGN;
    else if (send && ib->position == IB_ONLY)
        v->class = begins || by_flow ? PAYLOAD_IPOIB : PAYLOAD_OTHER;
    else if (send)
        v->class = classify_part(f, p, flow, ours, begins || by_flow);
    if (by_flow)
        v->flow_frame = flow->connection ? flow->connection->req_frame : flow->early_frame;
    unsigned before = flow->consecutive;
    if (!packet_is_corrupt(p))
        count_consecutive(flow, ib, looks, next);
    flow->several |= flow->consecutive >= FLOW_LIKELY && !is_ended(flow);
    v->is_recognised = !flow->connection && before < FLOW_LIKELY &&
                       flow->consecutive >= FLOW_LIKELY;
    if (looks && !ours && !flow->looked_ipoib && !packet_is_corrupt(p))
        flow->looked_ipoib = true;
    bool early = send && (looks || ours) &&
                 (!(v->connection && v->connection->rep_frame) || is_before_rtu(flow));
    if (early && flow->early_frame == 0)
        flow->early_frame = p->at.frame;
    if (send && ours)
        connection_used(flow->connection, &f->facts.order.clocks);
    bool may_be = ours || (ipoib && !send && may_have_qps(v->connection)); /* an acknowledgement */
    if (ipoib && !may_be && v->class == PAYLOAD_OTHER)
        v->connection = NULL;
    v->by_context = v->class != PAYLOAD_OTHER || v->connection;
}

/* ---- interfaces */

static void merge_subnets(struct fabric *f, uint16_t from, uint16_t to)
{
    psn_gaps_merge(f->psn_gaps);
    waiting_merge(f->waiting);
    waiting_merge(f->waiting_smps);
    memset(&f->stopped, 0, sizeof f->stopped); /* groups_merge() moves members */
    memset(&f->listening, 0, sizeof f->listening);
    subnet_merge_doubt(f->subnet, from, to); /* also beyond the limit: it never adds a violation */
    if (f->facts.merged == FABRIC_MERGES_MAX) {
        undone_refuse(&f->undone, UNDONE_MERGES);
        return;
    }
    f->facts.merges[f->facts.merged++] = (struct interface_merge){from, to};
    endports_merge(f->endports, from, to);
    groups_merge(f->groups, from, to);
    subnet_merge(f->subnet, from, to);
    connections_merge(f->connections, from, to);
    neighbours_merge(f->neighbours, from, to);
    resolutions_merge(f->resolutions, from, to);
    stale_merge(f->stale, from, to);
    qpns_merge(f->qpns, from, to);
    order_merge(&f->facts.order, from, to);
}

struct observed {
    struct fabric *f;
    const struct packet *p;
};

void contradiction_interfaces(const struct contradiction *c, char *out)
{
    const struct capture_interface *a = &c->interface[0], *b = &c->interface[1];
    if (a->number == b->number && a->section == b->section)
        snprintf(out, CONTRADICTION_TEXT, "ERF ports %u and %u of interface %u",
                 a->port & ERF_FLAGS_PORT, b->port & ERF_FLAGS_PORT, a->number);
    else
        snprintf(out, CONTRADICTION_TEXT, "interfaces %u and %u", a->number, b->number);
}

static void on_evidence(void *user, uint16_t a, uint16_t b, bool together)
{
    const struct observed *o = user;
    struct interfaces *i = o->f->interfaces;
    struct contradiction c = {o->p->at.frame,
                              {interfaces_captured(i, a), interfaces_captured(i, b)}};
    uint16_t from, to;
    if (together && interfaces_join(i, a, b, &from, &to))
        merge_subnets(o->f, from, to);
    else if (!together && interfaces_part(i, a, b) && !o->f->facts.contradiction.frame)
        o->f->facts.contradiction = c;
}

static bool observation_is_corrupt(void *user)
{
    const struct observed *o = user;
    return packet_is_corrupt(o->p);
}

void fabric_place(const struct fabric *f, struct packet *p)
{
    p->at.interface = interfaces_subnet(f->interfaces, p->captured_on);
    p->src = endports_base(f->endports, port_on(p->src, p->at.interface));
    p->dst = endports_base(f->endports, port_on(p->dst, p->at.interface));
}

/* Pass the packet to the evidence about its interface. */
static void see_interface(struct fabric *f, const struct packet *p)
{
    struct observed o = {f, p};
    const struct evidence_observer observer = {on_evidence, observation_is_corrupt, &o};
    const bool mad = ib_is_mad(&p->ib);
    const struct evidence_packet packet = {&p->ib, mad ? &p->mad : NULL, mad ? NULL : &p->datagram,
                                           p->src, p->dst};
    uint16_t other;
    if (f->evidence && copies_elsewhere(f->copies, f->interfaces, p, &other))
        on_evidence(&o, p->captured_on, other, true);
    if (f->evidence)
        evidence_see(f->evidence, p->captured_on, &packet, &observer);
}

/* ---- group parameters that the SA may have sent */

struct doubt fabric_doubt(const struct fabric_facts *f, const struct group *group)
{
    return subnet_doubt(f->subnet, interfaces_subnet(f->interfaces, group->interface));
}

bool fabric_knows_history(const struct fabric_facts *f, const struct group *group)
{
    uint32_t first = fabric_doubt(f, group).first_frame;
    bool doubted = group->first_unanswered || (first && first <= group->since_frame);
    return !group->changed_frame && (f->records_are_current || !doubted);
}

/* ---- classification from earlier packets */

static void classify_mad(struct fabric *f, struct packet *p)
{
    if (!packet_cm(p) || packet_is_corrupt(p))
        return;
    struct connection *c = connections_message(
        f->connections, p->at.frame, order_window(&f->facts.order), &p->mad, &p->src, &p->dst);
    p->classification.connection = c;
    if (c && c->rtu_frame == p->at.frame)
        responder_may_send(f, c);
}

/* ---- copies */

static bool is_copy(struct fabric *f, struct packet *p)
{
    const struct captured *first = copies_find(f->copies, f->interfaces, p);
    if (!first || packet_is_corrupt(p))
        return false;
    p->copy_of = first->frame;
    f->copied_ns = first->ns;
    p->may_be_sent_again = p->ib.transport != IB_UD && !copies_is_at_once(first, p);
    p->classification = first->is;
    return true;
}

/*
 * A copy on another interface shows that both see one subnet. If nothing has joined them yet, the
 * packet is first evidence for that. A MAD is always evidence: those of two subnets may be the
 * same.
 */
static bool find_copy(struct fabric *f, struct packet *p)
{
    unsigned merged = f->facts.merged;
    bool mad = ib_is_mad(&p->ib);
    p->digest = packet_digest(p);
    if (!mad && is_copy(f, p))
        return true;
    see_interface(f, p);
    return (mad || f->facts.merged != merged) && is_copy(f, p);
}

/*
 * Does its message still lack this part of it? Then it is a retransmission: the first one came
 * before packets that the receiver had to ask for again.
 */
static bool is_lacking(struct fabric *f, struct packet *p)
{
    struct classification *v = &p->classification;
    struct flow *flow = connections_flow(f->connections, &p->dst, p->ib.dqpn, false);
    if (v->class != PAYLOAD_FRAGMENT || !flow)
        return false;
    v->fragment = stream_packet(&flow->stream, connections_streams(f->connections), p->ib.position,
                                p->ib.psn, p->ib.payload.len, v->fragment.ipoib);
    return v->fragment.state == STREAM_FRAGMENT || v->fragment.state == STREAM_COMPLETE;
}

void fabric_forget_packet(struct fabric *f, const struct packet *p)
{
    copies_forget(f->copies, p);
}

/* Is the SGID that of the port at the SLID? A router sends packets of others from its own LID. */
static bool has_its_own_lid(const struct fabric *f, const struct packet *p)
{
    const struct ib_packet *ib = &p->ib;
    const struct endport *port = endports_by_gid(
        f->endports, interfaces_subnet(f->interfaces, p->captured_on), ib->sgid);
    return port && ib->slid && endport_has_lid(port, ib->slid);
}

static struct crcs_count see_crcs(struct fabric *f, const struct packet *p)
{
    struct crcs_count counts = sources_see(f->sources, p->captured_on, p->bytes, &p->ib);
    if (!counts.icrc && p->ib.has_lrh && p->ib.has_grh && has_its_own_lid(f, p))
        counts.icrc = sources_share(f->sources, p->captured_on, &p->ib);
    return counts;
}

void fabric_classify(struct fabric *f, struct packet *p)
{
    bool whole = p->result == WIRE_OK;
    if (whole)
        p->crcs_count = see_crcs(f, p);
    bool copy = whole && find_copy(f, p);
    uint16_t subnet = interfaces_subnet(f->interfaces, p->captured_on);
    if (copy && p->classification.class == PAYLOAD_MAD)
        order_copied(&f->facts.order, subnet);
    if (!copy)
        order_note(&f->facts.order, p->at.frame, subnet, p->captured_on, p->at.ns);
    else if (!p->may_be_sent_again)
        order_copy(&f->facts.order, p->copy_of, subnet, p->captured_on, p->at.ns);
    if (whole)
        fabric_place(f, p);
    if (copy && is_lacking(f, p))
        p->copy_of = 0;
    if (!whole || copy)
        return;
    if (p->classification.class == PAYLOAD_MAD)
        classify_mad(f, p);
    else if (p->ib.transport == IB_UD)
        classify_datagram(f, p);
    else if (p->ib.transport == IB_RC || p->ib.transport == IB_UC)
        classify_connected(f, p);
}
