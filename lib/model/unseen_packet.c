/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was not seen or not judged in a packet, and in the fabric (model/unseen.h). */
#include "model/fabric_state.h"
#include "wire/ip.h"
#include "wire/nd.h"

/* Why ib_decode() says that the packet is not InfiniBand's transport. */
static enum unseen_kind foreign_kind(const struct ib_packet *ib)
{
    if (ib->lver != 0 || ib->tver != 0)
        return UNSEEN_VERSION;
    if (ib->has_bth)
        return UNSEEN_OPCODE;
    return ib->has_grh ? UNSEEN_NEXT_HEADER : UNSEEN_RAW;
}

static void count_headers(struct unseen *u, const struct packet *p)
{
    if (p->result == WIRE_TRUNCATED)
        unseen_add(u, UNSEEN_TRUNCATED, 1, p->at.frame);
    else if (p->result == WIRE_MALFORMED)
        unseen_add(u, UNSEEN_MALFORMED, 1, p->at.frame);
    else if (p->result == WIRE_FOREIGN)
        unseen_add(u, foreign_kind(&p->ib), 1, p->at.frame);
}

/* Is it an IPoIB message, or management? Of other packets the contents are not judged. */
static bool is_judged(const struct packet *p)
{
    enum payload_class class = p->classification.class;
    return class == PAYLOAD_MAD || class == PAYLOAD_IPOIB || class == PAYLOAD_FRAGMENT;
}

static void count_contents(struct unseen *u, const struct packet *p)
{
    bool is_mad = p->classification.class == PAYLOAD_MAD;
    bool is_corrupt = packet_is_corrupt(p);
    unseen_add(u, UNSEEN_CORRUPT, is_corrupt, p->at.frame);
    if (is_mad && p->ib.payload.len < MAD_SIZE)
        unseen_add(u, UNSEEN_NO_MAD, 1, p->at.frame);
    else if (is_mad && p->mad.result == WIRE_MALFORMED)
        unseen_add(u, UNSEEN_MALFORMED, 1, p->at.frame);
    else if (p->bytes.cap < p->bytes.len)
        unseen_add(u, UNSEEN_CONTENTS, 1, p->at.frame);
    if (!is_mad)
        unseen_add_datagram(u, is_corrupt || p->is_marked, p->at.frame);
}

/* ---- what is missing between packets */

/* Packets of a connection without an ACK or NAK: as many may be on the way. ACKNOWLEDGED: it had
 * one. */
enum { UNACKNOWLEDGED_MAX = 6, ACKNOWLEDGED };

static void follow_connection(struct fabric *f, const struct packet *p)
{
    const struct port_number sender = port_number(&p->src, p->ib.dqpn | PSN_TO_QP);
    const struct psn_packet packet = {p->ib.psn, p->at.frame, p->ib.dlid,
                                      false,     p->ib.sgid,  p->ib.dgid};
    if (p->ib.kind == IB_KIND_SEND && connection_is_ipoib(p->classification.connection))
        psn_gaps_see(f->psn_gaps, &sender, &packet,
                     packet_is_known_corrupt(p) ? PSN_NEXT : PSN_SURE);
    else if (p->ib.opcode != OPCODE_ACKNOWLEDGE) /* a read may have many PSNs */
        psn_gaps_restart(f->psn_gaps, &sender);
    struct connection_side *side = &p->classification.connection->requester;
    if (p->ib.opcode == OPCODE_ACKNOWLEDGE)
        side->unacknowledged = ACKNOWLEDGED;
    else if (p->ib.transport == IB_RC && side->unacknowledged < UNACKNOWLEDGED_MAX)
        side->unacknowledged++;
}

static void follow_datagram(struct fabric *f, const struct packet *p)
{
    const struct port_number sender = port_number(&p->src, p->ib.sqpn);
    enum psn_evidence evidence = packet_is_corrupt(p)                       ? PSN_NEXT
                                 : p->classification.class == PAYLOAD_IPOIB ? PSN_SURE
                                                                            : PSN_OF_QP;
    const struct psn_packet packet = {p->ib.psn, p->at.frame, p->ib.dlid,
                                      false,     p->ib.sgid,  p->ib.dgid};
    psn_gaps_see(f->psn_gaps, &sender, &packet, evidence);
}

/* The end of a directed route, after so many hops. Id 0: not known. */
static struct port end_of_route(const struct packet *p, uint8_t hops)
{
    const struct smp *s = &p->mad.smp;
    if (p->mad.result != WIRE_OK || !s->initial_path)
        return (struct port){0};
    return port_of_route(p->at.interface, (uint32_t)(s->mad.tid >> 32), s->initial_path + 1, hops);
}

/*
 * The packets of a directed route may have no LIDs. The end of the route has sent the response, the
 * agent at its start the request. Id 0: not known.
 */
static struct port sender_of_smp(const struct packet *p)
{
    const struct smp *s = &p->mad.smp;
    return end_of_route(p, s->mad.method & MAD_RESPONSE ? s->hop_count : 0);
}

static void follow_set_lid(struct fabric *f, const struct packet *p)
{
    struct port_info i;
    if (p->mad.mad.attribute == SMP_PORT_INFO && smp_port_info(&p->mad.smp, &i) == WIRE_OK && i.lid)
        psn_gaps_lid_is_set(f->psn_gaps, port_lid(p->at.interface, i.lid), p->at.frame);
}

/* Gets and Sets of a subnet manager. */
static void follow_smp(struct fabric *f, const struct packet *p)
{
    const struct mad *m = &p->mad.mad;
    bool is_response = m->method == SMP_GET_RESP;
    struct port of = is_response ? p->dst : p->src;
    if (packet_is_corrupt(p) || (!is_response && m->method != SMP_GET && m->method != SMP_SET))
        return;
    if (m->method == SMP_SET)
        follow_set_lid(f, p);
    if (p->mad.smp.directed)
        of = f->facts.end_of_route = end_of_route(p, p->mad.smp.hop_count);
    unsigned place = port_transaction_place(&of, m->tid);
    if (is_response)
        waiting_response(f->waiting_smps, &of, m->tid, place);
    else
        waiting_request(f->waiting_smps, &of, m->tid, place, p->at.frame, p->at.ns);
}

static void follow_management(struct fabric *f, const struct packet *p)
{
    f->has_management = true;
    bool is_smp = p->mad.kind == MAD_KIND_SMP;
    const struct port src = is_smp && p->mad.smp.directed ? sender_of_smp(p) : p->src;
    const struct port_number sender = port_number(&src, p->ib.sqpn);
    uint8_t method = p->mad.mad.method;
    bool by_sa = p->mad.kind == MAD_KIND_SA && p->mad.has_header && method & MAD_RESPONSE &&
                 method != SA_REPORT_RESP;
    const struct psn_packet packet = {p->ib.psn, p->at.frame, p->ib.dlid,
                                      by_sa,     p->ib.sgid,  p->ib.dgid};
    if (is_smp && p->mad.has_header)
        follow_smp(f, p);
    if (p->mad.has_header && p->ib.sqpn <= QPN_GSI)
        psn_gaps_see(f->psn_gaps, &sender, &packet,
                     packet_is_known_corrupt(p) ? PSN_NEXT : PSN_SURE);
}

/*
 * A table of the SA whose AttributeOffset is less than a record, as 0, which is right only for one
 * record or none (IBA 15.2.1.1). The first segment shows it: other segments follow, or it has two
 * records.
 */
static bool has_no_offset(const struct sa *sa)
{
    uint32_t size = sa_record_size(sa->mad.attribute);
    bool is_last = (sa->rmpp_flags & RMPP_FLAG_LAST) != 0;
    bool is_first = sa->mad.method == SA_GET_TABLE_RESP && sa->mad.status == 0 &&
                    sa->rmpp_type == RMPP_TYPE_DATA && sa->segment == 1;
    return is_first && sa->record_stride < size &&
           (!is_last || (sa->payload_length >= RMPP_SA_HEADER + 2 * size &&
                         sa->payload_length <= RMPP_SA_HEADER + SA_DATA_SIZE));
}

/* Reports are requests of the SA. */
static void follow_sa(struct fabric *f, const struct packet *p)
{
    const struct mad *m = &p->mad.mad;
    if (packet_is_corrupt(p) || m->method == SA_REPORT || m->method == SA_REPORT_RESP ||
        p->mad.sa.rmpp_type > RMPP_TYPE_DATA)
        return;
    if (!(m->method & MAD_RESPONSE)) {
        unsigned place = port_transaction_place(&p->src, m->tid);
        waiting_request(f->waiting, &p->src, m->tid, place, p->at.frame, p->at.ns);
        return;
    }
    waiting_response(f->waiting, &p->dst, m->tid, port_transaction_place(&p->dst, m->tid));
    transfers_see(f->transfers, &p->dst, &p->mad.sa, p->at.frame, p->at.ns);
    unseen_add(&f->unseen, UNSEEN_OFFSETS, has_no_offset(&p->mad.sa), p->at.frame);
}

static void follow_sequences(struct fabric *f, const struct packet *p)
{
    bool is_mad = p->classification.class == PAYLOAD_MAD;
    if (is_mad && p->mad.kind == MAD_KIND_SA && p->mad.has_header)
        follow_sa(f, p);
    if (!is_mad && p->classification.connection)
        follow_connection(f, p);
    if (!is_mad && p->ib.has_deth)
        follow_datagram(f, p);
    else if (is_mad)
        follow_management(f, p);
}

/* ---- decoded, but in a form that is not judged */

/* Is the IP header cut off by the sender, or of another length than the message? */
static bool has_malformed_ip(const struct packet *p)
{
    const struct datagram *d = &p->datagram;
    bool is_ip = d->encap.type == TYPE_IPV4 || d->encap.type == TYPE_IPV6;
    bool is_whole = p->classification.class == PAYLOAD_IPOIB && d->header == WIRE_OK;
    bool is_captured = d->body.cap == d->body.len || d->body.cap >= IPV6_SIZE;
    return is_whole && is_ip && is_captured && !d->agrees && !encap_agrees(d->bytes);
}

static bool is_other_type(uint16_t type)
{
    return type != TYPE_IPV4 && type != TYPE_IPV6 && type != TYPE_ARP && type != TYPE_RARP;
}

/*
 * Is it of a protocol that neither a rule nor an event looks into, such as ESP? Extension headers
 * of IPv6 may have any behind them.
 */
static bool is_opaque(struct view ip, bool is_v4)
{
    enum { ICMP = 1, IGMP = 2, TCP = 6, UDP = 17, ICMPV6 = 58 };
    enum { HOP_BY_HOP = 0, ROUTING = 43, FRAGMENT = 44, AH = 51, DESTINATION = 60 };
    uint32_t at = is_v4 ? IPV4_PROTOCOL : IPV6_NEXT_HEADER;
    if (view_has(ip, 0, at + 1) != WIRE_OK)
        return false;
    switch (ip.p[at]) {
    case ICMP:
    case IGMP:
    case TCP:
    case UDP:
    case ICMPV6:
        return false;
    case HOP_BY_HOP:
    case ROUTING:
    case FRAGMENT:
    case AH:
    case DESTINATION:
        return is_v4;
    default:
        return true;
    }
}

static void count_ip(struct fabric *f, const struct packet *p)
{
    const struct datagram *d = &p->datagram;
    f->n_ip++;
    if (!is_opaque(d->body, d->encap.type == TYPE_IPV4))
        return;
    if (!f->n_opaque++)
        f->first_opaque = p->at.frame;
}

/* IEEE 802.1Q, and 802.1ad: Ethernet's. On IPoIB, a partition is what a VLAN is there. */
static bool is_vlan_tag(uint16_t type)
{
    return type == 0x8100 || type == 0x88a8;
}

static void count_datagram(struct fabric *f, const struct packet *p)
{
    struct unseen *u = &f->unseen;
    const struct datagram *d = &p->datagram;
    f->n_split += p->classification.class == PAYLOAD_FRAGMENT && d->header == WIRE_OK;
    if (p->classification.class != PAYLOAD_IPOIB || d->header != WIRE_OK)
        return;
    if (is_vlan_tag(d->encap.type))
        unseen_add(u, UNSEEN_VLAN, 1, p->at.frame);
    else
        unseen_add(u, UNSEEN_ETHERTYPES, is_other_type(d->encap.type), p->at.frame);
    if (d->encap.type == TYPE_IPV4 || d->encap.type == TYPE_IPV6)
        count_ip(f, p);
    else
        f->has_management = true;
    if (d->icmpv6.cap && d->icmpv6.p[0] >= ND_RS && d->icmpv6.p[0] <= ND_REDIRECT)
        f->has_management = true;
    unseen_add(u, UNSEEN_IP_HEADER, has_malformed_ip(p), p->at.frame);
    if (d->encap.type == TYPE_IPV6)
        unseen_add(u, UNSEEN_HIDDEN_ND, nd_is_hidden(d->body), p->at.frame);
    if (d->encap.type == TYPE_IPV4)
        unseen_add(u, UNSEEN_SPLIT_DHCP, dhcp_is_fragment(d->body), p->at.frame);
}

/* Is the packet to an IPoIB QP, or of an IPoIB connection? */
static bool is_of_ipoib(const struct fabric *f, const struct packet *p)
{
    const struct connection *c = p->classification.connection;
    if (p->ib.transport == IB_RC || p->ib.transport == IB_UC)
        return c && connection_is_ipoib(c);
    const struct qp *qp = qpns_find(f->qpns, &p->dst, p->ib.dqpn);
    return qp && (qp->pkey == 0 || p->ib.transport != IB_UD || qp->qkey == p->ib.qkey);
}

/* After a pause, the QPs may be those of another connection: its PSNs start anywhere. */
static bool has_its_qps(const struct fabric *f, const struct packet *p, const struct connection *c)
{
    const struct flow *flow = connections_flow(f->connections, &p->dst, p->ib.dqpn, false);
    return !connection_is_over(c) && (connection_has_qps(c, &f->facts.order.clocks) ||
                                      (flow && flow_is_next(flow, p->ib.psn)));
}

/* IPoIB has only SENDs on its connections (RFC 4755). */
static bool is_rdma(const struct fabric *f, const struct packet *p)
{
    const struct connection *c = p->classification.connection;
    bool is_connected = p->ib.transport == IB_RC || p->ib.transport == IB_UC;
    return is_connected && p->ib.kind != IB_KIND_SEND && p->ib.opcode != OPCODE_ACKNOWLEDGE && c &&
           connection_is_ipoib(c) && has_its_qps(f, p, c) && !packet_is_corrupt(p);
}

static void count_other(struct fabric *f, const struct packet *p)
{
    bool is_other = p->ib.transport == IB_RD || p->ib.transport == IB_XRC;
    if (p->ib.immediate && is_of_ipoib(f, p))
        unseen_add(&f->unseen, UNSEEN_IMMEDIATE, 1, p->at.frame);
    else if (is_rdma(f, p))
        unseen_add(&f->unseen, UNSEEN_RDMA, 1, p->at.frame);
    else if (is_other && is_of_ipoib(f, p))
        unseen_add(&f->unseen, UNSEEN_TRANSPORT, 1, p->at.frame);
    else if (packet_has_wrong_field(p))
        unseen_add(&f->unseen, UNSEEN_STRANGERS, 1, p->at.frame);
}

/* A record may end with the VCRC, with the ICRC or before it. */
static __attribute__((noinline)) void count_length(struct fabric *f, const struct packet *p)
{
    enum { PADDING = 8 };
    uint32_t length = p->ib.length, has = p->bytes.len;
    if (!p->ib.has_lrh || (has + ICRC_SIZE >= length && has <= length + VCRC_SIZE + PADDING))
        return;
    if (has < length)
        f->n_shorter++;
    else
        f->n_longer++;
    if (!f->first_length)
        f->first_length = p->at.frame;
}

void unseen_packet(struct fabric *f, const struct packet *p)
{
    struct unseen *u = &f->unseen;
    if (p->bytes.len != p->ib.length + VCRC_SIZE)
        count_length(f, p);
    unseen_add(u, UNSEEN_MARKED, p->is_marked, p->at.frame);
    if (is_judged(p)) {
        count_contents(u, p);
        follow_sequences(f, p);
        count_datagram(f, p);
    } else if (p->result == WIRE_OK) {
        count_other(f, p);
        follow_sequences(f, p);
    } else {
        count_headers(u, p);
    }
}

/* ---- at the end of the capture */

static void count_requests(struct unseen *u, const struct connections *all)
{
    for (unsigned i = 0; i < connections_count(all); i++) {
        const struct connection *c = connections_at(all, i);
        if (connection_is_ipoib(c) && c->req_frame && !connection_has_response(c))
            unseen_add(u, UNSEEN_REQUESTS, 1, c->req_frame);
    }
}

static void count_unacknowledged(struct unseen *u, const struct connections *all)
{
    for (unsigned i = 0; i < connections_count(all); i++) {
        const struct connection *c = connections_at(all, i);
        bool is_used = connection_is_ipoib(c) && c->requester.unacknowledged == UNACKNOWLEDGED_MAX;
        unseen_add(u, UNSEEN_UNACKNOWLEDGED, is_used, c->req_frame);
    }
}

/* Packets of which the sender is not known: each may be one that seems to be missing. */
static uint64_t count_undecoded(const struct unseen *u)
{
    static const enum unseen_kind kinds[] = {
        UNSEEN_LINK_TYPE,   UNSEEN_OTHER,           UNSEEN_TRUNCATED, UNSEEN_MALFORMED,
        UNSEEN_NO_MAD,      UNSEEN_WRONG_LINK_TYPE, UNSEEN_VERSION,   UNSEEN_RAW,
        UNSEEN_NEXT_HEADER, UNSEEN_OPCODE,          UNSEEN_TRANSPORT};
    uint64_t n = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++)
        n += u->kinds[kinds[i]].count;
    return n;
}

static void count_missing(struct unseen *u, const struct fabric *f)
{
    uint32_t frame;
    uint64_t n = psn_gaps_missing(f->psn_gaps, &frame), undecoded = count_undecoded(u);
    unseen_add(u, UNSEEN_MISSING, n > undecoded ? n - undecoded : 0, frame);
    n = transfers_incomplete(f->transfers, f->facts.order.clocks.ns, &frame);
    unseen_add(u, UNSEEN_TABLES, n, frame);
    n = waiting_count(f->waiting, f->facts.order.clocks.ns, &frame);
    unseen_add(u, UNSEEN_SA_REQUESTS, n, frame);
    n = waiting_count(f->waiting_smps, f->facts.order.clocks.ns, &frame);
    unseen_add(u, UNSEEN_SMP_REQUESTS, n, frame);
}

static struct copied together(struct copied a, struct copied b)
{
    return (struct copied){a.packets + b.packets, a.copies + b.copies};
}

enum { COPIES_MIN = 10 };

/* Two packets of five are copies. */
static bool is_doubled(struct copied c)
{
    enum { PART = 5, OF_PART = 2 };
    return c.copies * PART >= c.packets * OF_PART;
}

/*
 * A tap, or two capture points, had nearly all twice. A loop of switches makes copies of packets to
 * groups only, and a receiver without buffers those of connections only: where there are others,
 * these decide.
 */
static void count_copies(struct unseen *u, const struct fabric *f)
{
    struct copied datagrams = f->copied[COPIED_DATAGRAM];
    struct copied to_ports = together(datagrams, f->copied[COPIED_CONNECTED]);
    struct copied all = together(to_ports, f->copied[COPIED_TO_GROUP]);
    bool few = to_ports.packets < COPIES_MIN;
    bool doubled = is_doubled(few ? all : to_ports) &&
                   (datagrams.packets < COPIES_MIN || is_doubled(datagrams));
    if (all.copies >= COPIES_MIN && doubled)
        unseen_add(u, UNSEEN_COPIES, all.copies, f->first_copy);
    else if (datagrams.copies >= COPIES_MIN) /* of one host, as a second mirror has it */
        unseen_add(u, UNSEEN_COPIES, datagrams.copies, f->first_copy);
}

static void count_delivered(struct unseen *u, const struct fabric *f)
{
    uint32_t frame;
    uint64_t n = delivered_twice(&f->delivered, &frame);
    unseen_add(u, UNSEEN_GROUPS_TWICE, n, frame);
    n = delivered_late(&f->delivered, &frame);
    unseen_add(u, UNSEEN_CLOCKS, n, frame);
}

/* Few packets may have no answer. */
static void count_one_direction(struct unseen *u, const struct fabric *f)
{
    enum { ONE_DIRECTION_MIN = 20 };
    if (f->n_to_ports >= ONE_DIRECTION_MIN && (f->one_slid || f->one_dlid))
        unseen_add(u, UNSEEN_ONE_DIRECTION, f->n_to_ports, 0);
}

/* Datagrams need addresses and paths, which are asked for now and then. */
static void count_without_management(struct unseen *u, const struct fabric *f)
{
    enum { WITHOUT_MIN = 20 };
    uint64_t n = f->n_ip + f->n_split;
    if (n >= WITHOUT_MIN && !f->has_management)
        unseen_add(u, UNSEEN_NO_MANAGEMENT, n, 0);
}

/* Padding and the snapshot length make records longer, or shorter, but not both. */
static void count_lengths(struct unseen *u, const struct fabric *f)
{
    enum { LENGTHS_MIN = 3 };
    if (f->n_shorter >= LENGTHS_MIN && f->n_longer >= LENGTHS_MIN)
        unseen_add(u, UNSEEN_LENGTHS, f->n_shorter + f->n_longer, f->first_length);
}

/* Few such datagrams are nothing special. */
static void count_opaque(struct unseen *u, const struct fabric *f)
{
    enum { OPAQUE_MIN = 10, PART = 10 };
    if (f->n_opaque >= OPAQUE_MIN && f->n_opaque >= f->n_ip / PART)
        unseen_add(u, UNSEEN_OPAQUE, f->n_opaque, f->first_opaque);
}

/*
 * Of frames that are not InfiniBand by their link type, a few may look like it. Of a capture with
 * IPoIB, it is no news that it is on Ethernet.
 */
static void count_of_another_kind(struct unseen *u)
{
    uint64_t alike = u->kinds[UNSEEN_WRONG_LINK_TYPE].count;
    if (alike && (alike <= u->kinds[UNSEEN_OTHER].count || u->datagrams)) {
        uint32_t frame = u->kinds[UNSEEN_WRONG_LINK_TYPE].frame,
                 *other = &u->kinds[UNSEEN_OTHER].frame;
        unseen_add(u, UNSEEN_OTHER, alike, frame);
        *other = MIN(*other, frame);
        u->kinds[UNSEEN_WRONG_LINK_TYPE].count = 0;
    }
    if (u->datagrams)
        u->kinds[UNSEEN_ROCE].count = 0;
}

/* All of them, and not a few that a tool has made. */
static void count_without_crcs(struct unseen *u, const struct fabric *f)
{
    enum { WITHOUT_MIN = 100 };
    uint64_t n = sources_packets_without(f->sources);
    if (n >= WITHOUT_MIN)
        unseen_add(u, UNSEEN_NO_CRCS, n, 0);
}

struct unseen fabric_unseen(const struct fabric *f)
{
    struct unseen u = f->unseen;
    count_of_another_kind(&u);
    count_copies(&u, f);
    count_delivered(&u, f);
    count_one_direction(&u, f);
    count_without_management(&u, f);
    count_lengths(&u, f);
    count_opaque(&u, f);
    count_missing(&u, f);
    count_unacknowledged(&u, f->connections);
    unseen_add(&u, UNSEEN_MESSAGES, connections_incomplete_messages(f->connections), 0);
    count_without_crcs(&u, f);
    unseen_add(&u, UNSEEN_CRCS, sources_without_right(f->sources), 0);
    unseen_add(&u, UNSEEN_VCRCS, sources_without_vcrc(f->sources), 0);
    count_requests(&u, f->connections);
    return u;
}

struct unseen *fabric_count_unseen(struct fabric *f)
{
    return &f->unseen;
}
