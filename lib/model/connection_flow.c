/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flows of data to connected QPs: which connection has the QP, and the PSN of its packets. */
#include "model/connection_state.h"
#include "model/order.h"

void flow_drop(gpointer p)
{
    struct flow *f = p;
    stream_clear(&f->stream);
    if (f->heap)
        g_free(f);
}

void flow_release(struct flow *f)
{
    stream_clear(&f->stream);
    f->connection = NULL;
}

void flow_end_older(const struct flow *f, const struct connection *now, uint32_t frame)
{
    struct connection *older = f ? f->connection : NULL;
    if (older && older != now && !connection_is_over(older))
        older->drep_frame = frame;
}

/*
 * A flow of a further LID (flow_bind_lid()): does its QP belong to another connection by now? A
 * later REQ or REP that names the QP shows this in the flow of the side itself.
 */
static bool is_outdated(const struct connections *c, const struct flow *f)
{
    if (!f->heap || !f->connection)
        return false;
    const struct connection_side *side = f->to_requester ? &f->connection->requester
                                                         : &f->connection->responder;
    const struct flow *own = g_hash_table_lookup(c->flows, &side->flow.id);
    return own && own->connection != f->connection;
}

static struct flow **recent_of(struct connections *c, const struct port_number *key)
{
    return &c->recent[port_number_place(key) % RECENT_FLOWS];
}

struct flow *connections_flow(struct connections *c, const struct port *dst, uint32_t qpn,
                              bool create)
{
    struct port_number key = port_number(dst, qpn);
    struct flow **recent = recent_of(c, &key);
    struct flow *f = *recent && port_number_equal(*recent, &key)
                         ? *recent
                         : g_hash_table_lookup(c->flows, &key);
    if (f)
        *recent = f;
    if (f && is_outdated(c, f))
        flow_release(f);
    if (f || !create)
        return f;
    if (g_hash_table_size(c->flows) >= 4 * c->limit) {
        undone_refuse(c->undone, UNDONE_FLOWS);
        return NULL;
    }
    f = g_new0(struct flow, 1);
    f->heap = true;
    f->id = key;
    g_hash_table_add(c->flows, f);
    return f;
}

void flow_bind(struct connections *c, struct connection_side *side, const struct cm *cm,
               uint32_t frame)
{
    struct flow *f = &side->flow;
    const struct flow *before = connections_flow(c, &f->id.port, cm->qpn, false);
    flow_end_older(before, connection_of_side(side), frame);
    /* data before the REQ belonged to another connection */
    uint32_t early = before && !side->is_requester ? before->early_frame : 0;
    *f = (struct flow){.id = port_number(&f->id.port, cm->qpn),
                       .connection = connection_of_side(side),
                       .to_requester = side->is_requester,
                       .whole = true};
    sequence_begins(&f->sequence, cm->psn);
    f->early_frame = early;
    g_hash_table_replace(c->flows, f, f);
    *recent_of(c, &f->id) = f; /* the one before may be gone */
}

void flow_bind_lid(struct connections *c, uint16_t lid, const struct connection_side *side)
{
    struct port own = side->flow.id.port;
    struct port p = endports_base(c->ports, port_lid(port_interface(own), lid));
    if (lid == 0 || lid >= LID_MULTICAST_FIRST || port_kind(own) != PORT_LID || port_same(p, own))
        return;
    struct flow *f = connections_flow(c, &p, side->flow.id.number, true);
    if (!f || f->connection == connection_of_side(side))
        return;
    flow_release(f);
    f->sequence = (struct sequence){0};
    f->connection = connection_of_side(side);
    f->to_requester = side->is_requester;
}

/*
 * PSNs of a connection are followed over a loss of this many packets: 512 MB with an MTU of 2048.
 * The PSNs of another connection start anywhere in 24 bits (IBA 9.7.2), so 31 of 32 are farther.
 */
enum { PSN_JUMP = 1 << 18 };

/*
 * The flow with the PSN of the QP. The PSNs go on when the connection migrates to a path with
 * another LID (flow_bind_lid()).
 */
static const struct flow *flow_with_psn(const struct flow *f)
{
    if (!f->heap || !f->connection)
        return f;
    return f->to_requester ? &f->connection->requester.flow : &f->connection->responder.flow;
}

static bool flow_continues(const struct flow *f, uint32_t psn)
{
    const struct sequence *s = &flow_with_psn(f)->sequence;
    int32_t distance = psn_distance(s->psn, psn);
    return s->known && distance < PSN_JUMP && distance > -PSN_JUMP;
}

bool flow_is_next(const struct flow *f, uint32_t psn)
{
    const struct flow *own = flow_with_psn(f);
    return own->whole && sequence_is_next(&own->sequence, psn);
}

bool flow_goes_on(const struct flow *f, uint32_t psn)
{
    return flow_is_next(f, psn) && flow_with_psn(f)->consecutive >= FLOW_LIKELY;
}

void flow_sees(struct flow *f, uint32_t psn, bool looks, uint32_t frame)
{
    if (flow_with_psn(f)->sequence.known && !flow_continues(f, psn)) {
        /* the PSNs of the GSI show whether a QP has another connection after the end of its own */
        if (f->connection && !connection_is_over(f->connection))
            flow_release(f);
        f->looked_ipoib = false;
    }
    struct flow *own = (struct flow *)flow_with_psn(f);
    own->whole = looks || flow_is_next(f, psn);
    if (sequence_saw(&own->sequence, psn, frame) != SEEN_LATE)
        own->acknowledged = false;
}

bool flow_is_acknowledged(const struct flow *f)
{
    return flow_with_psn(f)->acknowledged;
}

void flow_takes_ack(struct flow *f, uint32_t psn)
{
    struct connection *c = f->connection;
    struct flow *data = c ? (f->to_requester ? &c->responder.flow : &c->requester.flow) : NULL;
    if (data && data->sequence.known && data->sequence.psn == psn)
        data->acknowledged = true;
}

void flow_sees_corrupt(struct flow *f, uint32_t psn, uint32_t frame)
{
    struct flow *own = (struct flow *)flow_with_psn(f);
    sequence_saw_corrupt(&own->sequence, psn, frame);
}
