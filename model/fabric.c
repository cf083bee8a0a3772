/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/fabric.h"

#include "wire/encap.h"
#include "wire/mgid.h"

enum { CONNECTIONS_MAX = 1 << 17, NEIGHBOURS_MAX = 1 << 18, QPNS_MAX = 1 << 18 };

struct fabric *fabric_new(void)
{
    struct fabric *f = g_new0(struct fabric, 1);
    f->connections = connections_new(CONNECTIONS_MAX);
    f->neighbours = neighbours_new(NEIGHBOURS_MAX);
    f->qpns = qpns_new(QPNS_MAX);
    return f;
}

void fabric_free(struct fabric *f)
{
    if (!f)
        return;
    connections_free(f->connections);
    neighbours_free(f->neighbours);
    qpns_free(f->qpns);
    g_free(f);
}

static void find_ports(struct packet *p, const struct port *outer_src, const struct port *outer_dst)
{
    if (p->ib.has_lrh) {
        p->src = port_lid(p->ib.slid);
        p->dst = port_lid(p->ib.dlid);
    } else if (p->ib.has_grh) {
        p->src = port_gid(p->ib.sgid);
        p->dst = port_gid(p->ib.dgid);
    } else if (outer_src && outer_dst) {
        p->src = *outer_src;
        p->dst = *outer_dst;
    }
}

/* A datagram is IPoIB if its group says so, or if its content agrees with its Type. */
static enum payload_class datagram_alone(const struct ib_packet *ib)
{
    if (ib->immediate)
        return PAYLOAD_OTHER;
    if (ib->dgid && mgid_is_ipoib(ib->dgid))
        return PAYLOAD_IPOIB;
    return encap_agrees(ib->payload) ? PAYLOAD_IPOIB : PAYLOAD_OTHER;
}

void packet_read(struct packet *p, struct view v, enum ib_start start, const struct port *outer_src, const struct port *outer_dst)
{
    memset(p, 0, sizeof *p);
    p->result = ib_decode(v, start, &p->ib);
    if (p->ib.has_bth)
        find_ports(p, outer_src, outer_dst);
    if (p->result != WIRE_OK)
        return;
    if (ib_is_mad(&p->ib))
        p->verdict.class = PAYLOAD_MAD;
    else if (p->ib.transport == IB_UD)
        p->verdict.class = datagram_alone(&p->ib);
    else if (p->ib.transport == IB_RC || p->ib.transport == IB_UC)
        p->verdict.class = PAYLOAD_OTHER;
}

static void classify_datagram(struct fabric *f, struct packet *p)
{
    if (p->verdict.class == PAYLOAD_IPOIB) {
        qpns_learn(f->qpns, &p->src, p->ib.sqpn);
    } else if (!p->ib.immediate && (qpns_known(f->qpns, &p->src, p->ib.sqpn) || qpns_known(f->qpns, &p->dst, p->ib.dqpn))) {
        p->verdict.class = PAYLOAD_IPOIB;
        p->verdict.by_context = true;
    }
}

static enum payload_class classify_only(const struct ib_packet *ib, const struct flow *flow, bool ours)
{
    struct encap e;
    if (ours || encap_begins_message(ib->payload, false))
        return PAYLOAD_IPOIB;
    bool known_type = encap_decode(ib->payload, &e) == WIRE_OK && e.type >= TYPE_FIRST && e.reserved == 0;
    return flow->looked_ipoib && known_type ? PAYLOAD_IPOIB : PAYLOAD_OTHER;
}

static enum payload_class classify_part(struct fabric *f, struct packet *p, struct flow *flow, bool ours)
{
    const struct ib_packet *ib = &p->ib;
    struct stream_result *part = &p->verdict.part;
    bool begins = ours || (ib->position == IB_FIRST && encap_begins_message(ib->payload, true));
    *part = stream_packet(&flow->stream, connections_counter(f->connections), ib->position, ib->psn, ib->payload.len, begins);
    if (part->verdict == STREAM_ORPHAN)
        return ours ? PAYLOAD_PART : PAYLOAD_OTHER;
    return part->ipoib ? PAYLOAD_PART : PAYLOAD_OTHER;
}

static void classify_connected(struct fabric *f, struct packet *p)
{
    const struct ib_packet *ib = &p->ib;
    struct verdict *v = &p->verdict;
    bool send = ib->kind == IB_KIND_SEND && !ib->immediate;
    bool looks = send && (ib->position == IB_ONLY || ib->position == IB_FIRST) &&
                 encap_begins_message(ib->payload, ib->position == IB_FIRST);
    struct flow *flow = connections_flow(f->connections, &p->dst, ib->dqpn, looks);

    if (!flow)
        return;
    v->connection = flow->connection;
    v->to_requester = flow->to_requester;
    bool ours = v->connection && connection_is_ipoib(v->connection);
    if (v->connection && !ours)
        v->class = PAYLOAD_FOREIGN;
    else if (send && ib->position == IB_ONLY)
        v->class = classify_only(ib, flow, ours);
    else if (send)
        v->class = classify_part(f, p, flow, ours);
    if (looks && !v->connection)
        flow->looked_ipoib = true;
    v->by_context = v->class != PAYLOAD_OTHER || v->connection;
}

void fabric_classify(struct fabric *f, struct packet *p)
{
    if (p->result != WIRE_OK || p->verdict.class == PAYLOAD_MAD)
        return;
    if (p->ib.transport == IB_UD)
        classify_datagram(f, p);
    else if (p->ib.transport == IB_RC || p->ib.transport == IB_UC)
        classify_connected(f, p);
}
