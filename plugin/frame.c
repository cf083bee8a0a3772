/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is in a frame: decoded by wire/, and told apart by what model/ knows of the capture so far.
 *
 * What the model says about a frame is decided in the first pass and kept, so that a second pass, a filtered
 * one and a redrawn packet show the same.
 */
#include "plugin/plugin.h"

#include <epan/proto_data.h>
#include <wiretap/wtap.h>

#include "wire/encap.h"
#include "wire/mgid.h"

/* The decision of the first pass, where it hung on what came before. */
struct decision {
    enum payload_class class;
    struct connection *connection;
    bool to_requester;
    struct stream_result part;
};

struct view tvb_view(tvbuff_t *tvb)
{
    uint32_t cap = tvb_captured_length(tvb);
    return view_make(cap ? tvb_get_ptr(tvb, 0, (int)cap) : NULL, cap, tvb_reported_length(tvb));
}

static struct port port_of_address(const address *a)
{
    if (a->type == AT_IPv4 || a->type == AT_IPv6)
        return port_ip(a->data, (size_t)a->len);
    return (struct port){0};
}

static void find_ports(struct frame *f, packet_info *pinfo)
{
    const struct ib_packet *ib = &f->ib;
    if (ib->has_lrh) {
        f->src = port_lid(ib->slid);
        f->dst = port_lid(ib->dlid);
    } else if (ib->has_grh) {
        f->src = port_gid(ib->sgid);
        f->dst = port_gid(ib->dgid);
    } else {
        f->src = port_of_address(&pinfo->net_src);
        f->dst = port_of_address(&pinfo->net_dst);
    }
}

static void keep(struct frame *f, packet_info *pinfo)
{
    struct decision *d = wmem_new(wmem_file_scope(), struct decision);
    *d = (struct decision){f->class, f->connection, f->to_requester, f->part};
    p_add_proto_data(wmem_file_scope(), pinfo, proto_ipoib, DATA_CLASS, d);
}

static void recall(struct frame *f, packet_info *pinfo)
{
    const struct decision *d = p_get_proto_data(wmem_file_scope(), pinfo, proto_ipoib, DATA_CLASS);
    if (!d)
        return;
    f->class = d->class;
    f->connection = d->connection;
    f->to_requester = d->to_requester;
    f->part = d->part;
}

/* A datagram is IPoIB if its group says so, if its content agrees with its Type, or if its QP is known for it. */
static void classify_datagram(struct frame *f, packet_info *pinfo)
{
    const struct ib_packet *ib = &f->ib;
    bool to_group = ib->dgid && mgid_is_ipoib(ib->dgid);

    f->class = PAYLOAD_OTHER;
    if (ib->immediate)
        return;
    if (to_group || encap_agrees(ib->payload)) {
        f->class = PAYLOAD_IPOIB;
        if (!pinfo->fd->visited)
            qpn_learn(state_qpns(), &f->src, ib->sqpn);
    } else if (pinfo->fd->visited) {
        recall(f, pinfo);
    } else if (qpn_known(state_qpns(), &f->src, ib->sqpn) || qpn_known(state_qpns(), &f->dst, ib->dqpn)) {
        f->class = PAYLOAD_IPOIB;
        keep(f, pinfo);
    }
}

static enum payload_class classify_only(const struct ib_packet *ib, struct flow *flow, bool ours)
{
    struct encap e;
    if (ours || encap_begins_message(ib->payload, false))
        return PAYLOAD_IPOIB;
    bool known_type = encap_decode(ib->payload, &e) == WIRE_OK && e.type >= TYPE_FIRST && e.reserved == 0;
    return flow && flow->looked_ipoib && known_type ? PAYLOAD_IPOIB : PAYLOAD_OTHER;
}

static enum payload_class classify_part(struct frame *f, struct flow *flow, bool ours)
{
    const struct ib_packet *ib = &f->ib;
    bool begins = ours || (ib->position == IB_FIRST && encap_begins_message(ib->payload, true));
    f->part = stream_packet(&flow->stream, connections_counter(state_connections()), ib->position, ib->psn,
                            ib->payload.len, begins);
    if (f->part.verdict == STREAM_ORPHAN)
        return ours ? PAYLOAD_PART : PAYLOAD_OTHER;
    return f->part.ipoib ? PAYLOAD_PART : PAYLOAD_OTHER;
}

/* Data of a connection, the first time that it is seen. */
static void classify_connected(struct frame *f)
{
    const struct ib_packet *ib = &f->ib;
    bool send = ib->kind == IB_KIND_SEND && !ib->immediate;
    bool looks = send && (ib->position == IB_ONLY || ib->position == IB_FIRST) &&
                 encap_begins_message(ib->payload, ib->position == IB_FIRST);
    struct flow *flow = connections_flow(state_connections(), &f->dst, ib->dqpn, looks);

    f->class = PAYLOAD_OTHER;
    if (!flow)
        return;
    f->connection = flow->connection;
    f->to_requester = flow->to_requester;
    bool ours = f->connection && connection_is_ipoib(f->connection);
    if (f->connection && !ours)
        f->class = PAYLOAD_FOREIGN;
    else if (send && ib->position == IB_ONLY)
        f->class = classify_only(ib, flow, ours);
    else if (send)
        f->class = classify_part(f, flow, ours);
    if (looks && !f->connection)
        flow->looked_ipoib = true;
}

static void classify(struct frame *f, packet_info *pinfo)
{
    const struct ib_packet *ib = &f->ib;
    if (ib_is_mad(ib)) {
        f->class = PAYLOAD_MAD;
    } else if (ib->transport == IB_UD) {
        classify_datagram(f, pinfo);
    } else if (ib->transport == IB_RC || ib->transport == IB_UC) {
        if (pinfo->fd->visited) {
            f->class = PAYLOAD_OTHER;
            recall(f, pinfo);
            return;
        }
        classify_connected(f);
        if (f->class != PAYLOAD_OTHER || f->connection)
            keep(f, pinfo);
    }
}

struct frame *frame_begin(tvbuff_t *tvb, packet_info *pinfo, enum ib_start start)
{
    struct frame *f = wmem_new0(pinfo->pool, struct frame);
    f->tvb = tvb;
    f->view = tvb_view(tvb);
    f->result = ib_decode(f->view, start, &f->ib);
    if (f->ib.has_bth)
        find_ports(f, pinfo);
    if (f->result == WIRE_OK)
        classify(f, pinfo);
    p_set_proto_data(pinfo->pool, pinfo, proto_ipoib, DATA_FRAME, f);
    return f;
}

struct frame *frame_current(packet_info *pinfo)
{
    return p_get_proto_data(pinfo->pool, pinfo, proto_ipoib, DATA_FRAME);
}

uint32_t frame_link(packet_info *pinfo)
{
    struct frame *f = frame_current(pinfo);
    uint32_t interface = pinfo->rec->presence_flags & WTAP_HAS_INTERFACE_ID
                             ? pinfo->rec->rec_header.packet_header.interface_id : 0;
    return interface << 16 | (f && f->ib.has_bth ? f->ib.pkey & 0x7fffu : 0);
}
