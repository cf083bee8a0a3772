/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/connection.h"

struct connections {
    GHashTable *by_comm_id; /* a set of struct connection_side */
    GHashTable *flows;      /* a set of struct flow */
    GPtrArray *all;
    struct endports *ports;
    unsigned limit;
    uint32_t messages;
};

/* A flow leaves the table: the QP is another connection's now, or all ends. */
static void flow_drop(gpointer p)
{
    struct flow *f = p;
    stream_clear(&f->stream);
    if (f->heap)
        g_free(f);
}

struct connections *connections_new(unsigned limit, struct endports *ports)
{
    struct connections *c = g_new0(struct connections, 1);
    c->by_comm_id = g_hash_table_new(port_number_hash, port_number_equal);
    c->flows = g_hash_table_new_full(port_number_hash, port_number_equal, flow_drop, NULL);
    c->all = g_ptr_array_new_with_free_func(g_free);
    c->ports = ports;
    c->limit = limit;
    return c;
}

void connections_free(struct connections *c)
{
    if (!c)
        return;
    g_hash_table_destroy(c->by_comm_id);
    g_hash_table_destroy(c->flows); /* before the connections, of which most flows are parts */
    g_ptr_array_unref(c->all);
    g_free(c);
}

uint32_t *connections_counter(struct connections *c)
{
    return &c->messages;
}

const struct connection *connections_at(const struct connections *c, unsigned index)
{
    return index < c->all->len ? g_ptr_array_index(c->all, index) : NULL;
}

unsigned connections_count(const struct connections *c)
{
    return c->all->len;
}

struct flow *connections_flow(struct connections *c, const struct port *dst, uint32_t qpn, bool create)
{
    struct port_number key = port_number(dst, qpn);
    struct flow *f = g_hash_table_lookup(c->flows, &key);
    if (f || !create || g_hash_table_size(c->flows) >= 4 * c->limit)
        return f;
    f = g_new0(struct flow, 1);
    f->heap = true;
    f->id = key;
    g_hash_table_add(c->flows, f);
    return f;
}

/* From now on what arrives at the QP belongs to the side; an older connection's messages are over. */
static void bind_side(struct connections *c, struct connection_side *side, uint32_t qpn, bool to_requester)
{
    const struct flow *before = connections_flow(c, &side->id.port, qpn, false);
    side->flow = (struct flow){.id = port_number(&side->id.port, qpn), .connection = side->of, .to_requester = to_requester};
    side->flow.early_frame = before ? before->early_frame : 0;
    g_hash_table_replace(c->flows, &side->flow, &side->flow);
}

/* Another LID of the side: a path of its own, or an alternate one. */
static void bind_lid(struct connections *c, uint16_t lid, const struct connection_side *side)
{
    struct port p = port_lid(port_interface(side->id.port), lid);
    if (lid == 0 || lid >= LID_MULTICAST_FIRST || port_kind(side->id.port) != PORT_LID || port_same(p, side->id.port))
        return;
    struct flow *f = connections_flow(c, &p, side->flow.id.number, true);
    if (!f || f->connection == side->of)
        return;
    stream_clear(&f->stream);
    f->connection = side->of;
    f->to_requester = side->flow.to_requester;
}

static struct connection *lookup(struct connections *c, const struct port *owner, uint32_t comm_id)
{
    struct port_number key = port_number(owner, comm_id);
    struct connection_side *side = g_hash_table_lookup(c->by_comm_id, &key);
    return side ? side->of : NULL;
}

static void side_known(struct connections *c, struct connection_side *side, const struct port *port, const struct cm *cm, bool requester)
{
    side->id = port_number(port, cm->local_comm_id);
    side->known = true;
    g_hash_table_replace(c->by_comm_id, side, side);
    bind_side(c, side, cm->qpn, requester);
}

static void read_private(struct connection_side *side, const struct cm *cm, struct view mad)
{
    struct cm_private d;
    side->has_private = cm_private_decode(mad, cm, &d) == WIRE_OK;
    if (!side->has_private)
        return;
    side->reserved = d.reserved;
    side->ud_qpn = d.ud_qpn;
    side->recv_mtu = d.recv_mtu;
}

/* The REQ names both ports by their GIDs; each remembers the connections that it had. */
static void attach(struct connections *c, struct connection *conn, const struct cm *cm)
{
    uint16_t interface = port_interface(conn->requester.id.port);
    conn->endport[0] = endports_by_gid(c->ports, interface, cm->local_gid, true);
    conn->endport[1] = endports_by_gid(c->ports, interface, cm->remote_gid, true);
    for (unsigned i = 0; i < 2; i++)
        if (conn->endport[i] && !(i == 1 && conn->endport[1] == conn->endport[0])) {
            conn->older[i] = conn->endport[i]->connections;
            conn->endport[i]->connections = conn;
        }
}

/* The same REQ again (IBA 12.9.8: it is repeated until answered) is not another connection. */
static bool repeats(const struct connection *conn, const struct cm *cm)
{
    return conn->requester.id.number == cm->local_comm_id && conn->requester.flow.id.number == cm->qpn &&
           conn->service_id == cm->service_id && !conn->rej_frame && !conn->dreq_frame;
}

static struct connection *on_req(struct connections *c, uint32_t frame, const struct cm *cm, struct view mad,
                                 const struct port *src, const struct port *dst)
{
    struct connection *conn = lookup(c, src, cm->local_comm_id);
    if (conn && repeats(conn, cm))
        return conn;
    if (c->all->len >= c->limit)
        return NULL;
    conn = g_new0(struct connection, 1);
    g_ptr_array_add(c->all, conn);
    conn->number = c->all->len;
    conn->requester.of = conn->responder.of = conn;
    conn->service_id = cm->service_id;
    conn->service = (uint8_t)(cm->service == SERVICE_UNKNOWN && cm_private_is_srp(mad, cm) ? SERVICE_SRP : cm->service);
    conn->transport = cm->transport;
    conn->pkey = cm->pkey;
    conn->req_frame = frame;
    conn->responder.id.port = *dst;
    side_known(c, &conn->requester, src, cm, true);
    bind_lid(c, cm->local_lid, &conn->requester);
    bind_lid(c, cm->alternate_local_lid, &conn->requester);
    if (connection_is_ipoib(conn)) {
        read_private(&conn->requester, cm, mad);
        attach(c, conn, cm);
    }
    return conn;
}

static struct connection *on_rep(struct connections *c, uint32_t frame, const struct cm *cm, struct view mad,
                                 const struct port *src, const struct port *dst)
{
    struct connection *conn = lookup(c, dst, cm->remote_comm_id);
    if (!conn || conn->requester.id.number != cm->remote_comm_id)
        return NULL;
    if (conn->responder.known) /* the same REP again */
        return conn->responder.id.number == cm->local_comm_id ? conn : NULL;
    conn->rep_frame = frame;
    side_known(c, &conn->responder, src, cm, false);
    if (connection_is_ipoib(conn))
        read_private(&conn->responder, cm, mad);
    return conn;
}

static void note(struct connection *conn, uint32_t frame, enum cm_message message)
{
    uint32_t *slot = message == CM_RTU ? &conn->rtu_frame : message == CM_REJ ? &conn->rej_frame
                   : message == CM_DREQ ? &conn->dreq_frame : message == CM_DREP ? &conn->drep_frame : NULL;
    if (slot && *slot == 0)
        *slot = frame;
}

static void on_lap(struct connections *c, const struct cm *cm, const struct port *src, struct connection *conn)
{
    bool from_requester = port_same(*src, conn->requester.id.port);
    bind_lid(c, cm->alternate_local_lid, from_requester ? &conn->requester : &conn->responder);
    bind_lid(c, cm->alternate_remote_lid, from_requester ? &conn->responder : &conn->requester);
}

struct connection *connections_message(struct connections *c, uint32_t frame, const struct cm *cm, struct view mad,
                                       const struct port *src, const struct port *dst)
{
    switch (cm->message) {
    case CM_REQ:
        return on_req(c, frame, cm, mad, src, dst);
    case CM_REP:
        return on_rep(c, frame, cm, mad, src, dst);
    case CM_SIDR_REQ:
    case CM_SIDR_REP:
        return NULL;
    default:
        break;
    }
    struct connection *conn = lookup(c, dst, cm->remote_comm_id);
    if (!conn) /* a REJ may leave the remote ID 0 (IBA 12.6.7); its own is the sender's */
        conn = lookup(c, src, cm->local_comm_id);
    if (!conn)
        return NULL;
    note(conn, frame, cm->message);
    if (cm->message == CM_LAP)
        on_lap(c, cm, src, conn);
    return conn;
}

uint32_t connection_mtu(const struct connection *c)
{
    if (!c->requester.has_private || !c->responder.has_private)
        return 0;
    return cm_connection_mtu(c->requester.recv_mtu, c->responder.recv_mtu);
}
