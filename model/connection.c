/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/connection.h"

struct connections {
    GHashTable *by_comm_id; /* struct port_number of (owner's port, its communication ID) -> connection */
    GHashTable *flows;      /* struct port_number of (receiving port, QPN) -> flow */
    GPtrArray *all;
    unsigned limit;
    uint32_t messages;
};

static void flow_free(gpointer p)
{
    struct flow *f = p;
    stream_clear(&f->stream);
    g_free(f);
}

struct connections *connections_new(unsigned limit)
{
    struct connections *c = g_new0(struct connections, 1);
    c->by_comm_id = g_hash_table_new_full(port_number_hash, port_number_equal, g_free, NULL);
    c->flows = g_hash_table_new_full(port_number_hash, port_number_equal, g_free, flow_free);
    c->all = g_ptr_array_new_with_free_func(g_free);
    c->limit = limit;
    return c;
}

void connections_free(struct connections *c)
{
    if (!c)
        return;
    g_hash_table_destroy(c->by_comm_id);
    g_hash_table_destroy(c->flows);
    g_ptr_array_unref(c->all);
    g_free(c);
}

uint32_t *connections_counter(struct connections *c)
{
    return &c->messages;
}

struct flow *connections_flow(struct connections *c, const struct port *dst, uint32_t qpn, bool create)
{
    struct port_number key = port_number(dst, qpn);
    struct flow *f = g_hash_table_lookup(c->flows, &key);
    if (f || !create || g_hash_table_size(c->flows) >= 4 * c->limit)
        return f;
    f = g_new0(struct flow, 1);
    g_hash_table_insert(c->flows, g_memdup2(&key, sizeof key), f);
    return f;
}

/* From now on what arrives at the QP belongs to the connection; an older one's messages are over. */
static void bind_flow(struct connections *c, const struct port *dst, uint32_t qpn, struct connection *conn, bool to_requester)
{
    struct flow *f = connections_flow(c, dst, qpn, true);
    if (!f)
        return;
    if (f->connection != conn)
        stream_clear(&f->stream);
    f->connection = conn;
    f->to_requester = to_requester;
}

static void bind_lid(struct connections *c, uint16_t lid, uint32_t qpn, struct connection *conn, bool to_requester)
{
    struct port p = port_lid(lid);
    if (lid != 0 && lid < LID_MULTICAST_FIRST)
        bind_flow(c, &p, qpn, conn, to_requester);
}

static void remember(struct connections *c, const struct port *owner, uint32_t comm_id, struct connection *conn)
{
    struct port_number key = port_number(owner, comm_id);
    g_hash_table_replace(c->by_comm_id, g_memdup2(&key, sizeof key), conn);
}

static struct connection *lookup(struct connections *c, const struct port *owner, uint32_t comm_id)
{
    struct port_number key = port_number(owner, comm_id);
    return g_hash_table_lookup(c->by_comm_id, &key);
}

static void read_private(struct connection_side *side, const struct cm *cm, struct view mad)
{
    if (cm_private_decode(mad, cm, &side->private) == WIRE_OK)
        side->has_private = true;
}

static struct connection *on_req(struct connections *c, uint32_t frame, const struct cm *cm, struct view mad,
                                 const struct port *src, const struct port *dst)
{
    struct connection *conn = lookup(c, src, cm->local_comm_id);
    /* The same REQ again (IBA 12.9.8: it is repeated until answered) is not another connection. */
    if (conn && conn->requester.comm_id == cm->local_comm_id && conn->requester.qpn == cm->qpn &&
        conn->service_id == cm->service_id && !conn->rej_frame && !conn->dreq_frame)
        return conn;
    if (c->all->len >= c->limit)
        return NULL;
    conn = g_new0(struct connection, 1);
    g_ptr_array_add(c->all, conn);
    conn->number = c->all->len;
    conn->service_id = cm->service_id;
    conn->service = cm->service == SERVICE_UNKNOWN && cm_private_is_srp(mad, cm) ? SERVICE_SRP : cm->service;
    conn->transport = cm->transport;
    conn->pkey = cm->pkey;
    conn->req_frame = frame;
    conn->requester = (struct connection_side){.port = *src, .comm_id = cm->local_comm_id, .qpn = cm->qpn, .known = true};
    conn->responder.port = *dst;
    if (connection_is_ipoib(conn))
        read_private(&conn->requester, cm, mad);
    remember(c, src, cm->local_comm_id, conn);
    bind_flow(c, src, cm->qpn, conn, true);
    bind_lid(c, cm->local_lid, cm->qpn, conn, true);
    bind_lid(c, cm->alternate_local_lid, cm->qpn, conn, true);
    return conn;
}

static struct connection *on_rep(struct connections *c, uint32_t frame, const struct cm *cm, struct view mad,
                                 const struct port *src, const struct port *dst)
{
    struct connection *conn = lookup(c, dst, cm->remote_comm_id);
    if (!conn || conn->requester.comm_id != cm->remote_comm_id)
        return NULL;
    if (conn->responder.known && conn->responder.comm_id == cm->local_comm_id)
        return conn;
    conn->rep_frame = frame;
    conn->responder = (struct connection_side){.port = *src, .comm_id = cm->local_comm_id, .qpn = cm->qpn, .known = true};
    if (connection_is_ipoib(conn))
        read_private(&conn->responder, cm, mad);
    remember(c, src, cm->local_comm_id, conn);
    bind_flow(c, src, cm->qpn, conn, false);
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
    bool from_requester = memcmp(src, &conn->requester.port, sizeof *src) == 0;
    bind_lid(c, cm->alternate_local_lid, from_requester ? conn->requester.qpn : conn->responder.qpn, conn, from_requester);
    bind_lid(c, cm->alternate_remote_lid, from_requester ? conn->responder.qpn : conn->requester.qpn, conn, !from_requester);
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
    return cm_connection_mtu(c->requester.private.recv_mtu, c->responder.private.recv_mtu);
}
