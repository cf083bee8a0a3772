/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CM messages: what each of them says of its connection (IBA 12.6). */
#include "model/connection_state.h"
#include "wire/pkey.h"

static void read_private(struct connection_side *side, const struct mad_payload *m)
{
    side->has_private = m->private_result == WIRE_OK;
    if (!side->has_private)
        return;
    side->reserved = m->private.reserved;
    side->ud_qpn = m->private.ud_qpn;
    side->recv_mtu = m->private.recv_mtu;
}

/*
 * An end of the connection. If nothing else has shown its LID, the REQ does, so that the packets of
 * its GSI are followed. said: its LID in the REQ's path; a path to another subnet has the LID of a
 * router.
 */
static struct endport *end_of(struct connections *c, const struct port *port, const uint8_t *gid,
                              uint16_t said, bool same_subnet)
{
    uint16_t interface = port_interface(*port), lid = port_to_lid(*port);
    struct endport *p = endports_get_by_gid(c->ports, interface, gid, true);
    bool is_new = p && !p->lid && lid && !endports_by_lid(c->ports, interface, lid);
    return is_new && same_subnet && said == lid ? endports_learn(c->ports, interface, lid, gid) : p;
}

/* The REQ has the GIDs of both ports. Each endport keeps a list of its connections. */
static void attach_flows(struct connections *c, struct connection *conn, const struct cm *cm)
{
    bool same_subnet = memcmp(cm->local_gid, cm->remote_gid, GID_SIZE / 2) == 0;
    conn->endport[0] = end_of(c, &conn->requester.flow.id.port, cm->local_gid, cm->local_lid,
                              same_subnet);
    conn->endport[1] = end_of(c, &conn->responder.flow.id.port, cm->remote_gid, cm->remote_lid,
                              same_subnet);
    for (unsigned i = 0; i < 2; i++)
        if (conn->endport[i] && !(i == 1 && conn->endport[1] == conn->endport[0])) {
            conn->older[i] = conn->endport[i]->connections;
            conn->endport[i]->connections = conn;
        }
    if (conn->endport[0])
        conn->endport[0]->waiting++;
}

/* The connection's first response. A port that waits for none needs no search for its REQs. */
static void note_first_response(struct connection *conn)
{
    struct endport *requester = endport_now(conn->endport[0]);
    if (!connection_has_response(conn) && requester)
        requester->waiting--;
}

/* A repeated REQ is not a new connection (IBA 12.9.8: a REQ is repeated until it is answered). */
static bool repeats(const struct connection *conn, const struct mad_payload *m)
{
    const struct cm *cm = &m->cm;
    return conn->tid == m->mad.tid && conn->requester.comm_id == cm->local_comm_id &&
           conn->requester.flow.id.number == cm->qpn && conn->service_id == cm->service_id &&
           !conn->rej_frame && !conn->dreq_frame;
}

/* Has the UD QP of the port sent IPoIB datagrams on the partition? */
static bool sends_ipoib(const struct connections *c, const struct port *port, uint16_t pkey,
                        uint32_t qpn)
{
    struct port base = endports_base(c->ports, *port);
    const struct qp *qp = c->qpns ? qpns_get(c->qpns, &base, qpn) : NULL;
    return qp && same_partition(qp->pkey, pkey);
}

/*
 * Is it the UD QP of an interface of that port on the partition, as its link-layer addresses or its
 * datagrams show?
 */
static bool is_ud_qp(const struct connections *c, const struct port *port, const uint8_t *gid,
                     uint16_t pkey, uint32_t qpn)
{
    const struct endport *p = endports_by_gid(c->ports, port_interface(*port), gid);
    return qpn &&
           ((p && endport_announced(p, pkey, qpn) == ANNOUNCED) || sends_ipoib(c, port, pkey, qpn));
}

/*
 * Is this an IPoIB REQ with a wrong Service-ID (RFC 4755 section 3.5)? Yes if its private data
 * names a UD QP of the requester, and its Service-ID starts as IPoIB's does or has a UD QP of the
 * responder, at its end or, in little-endian byte order, at its start.
 */
static bool has_other_service_id(const struct connections *c, const struct mad_payload *m,
                                 const struct port *src, const struct port *dst)
{
    const struct cm *cm = &m->cm;
    if (cm_service_is_ipoib(cm->service) || m->private_result != WIRE_OK ||
        !is_ud_qp(c, src, cm->local_gid, cm->pkey, m->private.ud_qpn))
        return false;
    return cm_service_is_near_ipoib(cm->service_id) ||
           is_ud_qp(c, dst, cm->remote_gid, cm->pkey, cm_service_qpn(cm->service_id));
}

_Static_assert(SERVICE_SRP < 1 << 4, "struct connection has 4 bits for its service");

static enum cm_service service_of(const struct connections *c, const struct mad_payload *m,
                                  const struct port *src, const struct port *dst)
{
    if (has_other_service_id(c, m, src, dst))
        return SERVICE_IPOIB_RFC;
    bool srp = m->cm.service == SERVICE_UNKNOWN && cm_private_is_srp(m->bytes, &m->cm);
    return srp ? SERVICE_SRP : m->cm.service;
}

static void note_early_rep(struct connections *c, uint32_t frame, const struct cm *cm,
                           const struct port *dst)
{
    unsigned i = c->next_early_rep++ % EARLY_REPS;
    c->early_reps[i].to = *dst;
    c->early_reps[i].comm_id = cm->remote_comm_id;
    c->early_reps[i].frame = frame;
}

/* Was a REP captured before this REQ, but within the window of order? */
static bool has_early_rep(const struct connections *c, uint32_t window, const struct cm *cm,
                          const struct port *src)
{
    for (unsigned i = 0; i < EARLY_REPS; i++)
        if (c->early_reps[i].frame && c->early_reps[i].comm_id == cm->local_comm_id &&
            port_same(c->early_reps[i].to, *src) && c->early_reps[i].frame >= window)
            return true;
    return false;
}

/* Is a packet of the port's GSI missing that may have come within the window of order? */
static bool misses_since(struct endport *e, uint32_t window)
{
    e = endport_now(e);
    return e && e->gsi.gap_frame && e->gsi.gap_frame >= window;
}

static struct connection *on_req(struct connections *c, uint32_t frame, uint32_t window,
                                 const struct mad_payload *m, const struct port *src,
                                 const struct port *dst)
{
    const struct cm *cm = &m->cm;
    struct connection *conn = connections_find(c, src, cm->local_comm_id);
    if (conn && repeats(conn, m))
        return conn;
    if (c->all.count >= c->limit) {
        undone_refuse(c->undone, UNDONE_CONNECTIONS);
        return NULL;
    }
    conn = slab_add(&c->all);
    conn->number = c->all.count;
    conn->requester.is_requester = true;
    conn->service_id = cm->service_id;
    conn->tid = m->mad.tid;
    conn->service = (uint8_t)service_of(c, m, src, dst);
    conn->transport = cm->transport & 3;
    conn->response_timeout = cm->response_timeout & 31;
    conn->requester.ack_timeout = cm->local_ack_timeout & 31;
    conn->requester.retry_count = cm->retry_count & 7;
    conn->pkey = cm->pkey;
    conn->req_frame = frame;
    conn->rep_before_req = has_early_rep(c, window, cm, src);
    conn->responder.flow.id.port = *dst;
    connections_add_side(c, &conn->requester, frame, src, cm);
    flow_bind_lid(c, cm->local_lid, &conn->requester);
    flow_bind_lid(c, cm->alternate_local_lid, &conn->requester);
    if (connection_is_ipoib(conn)) {
        read_private(&conn->requester, m);
        attach_flows(c, conn, cm);
        conn->rep_before_req |= misses_since(conn->endport[1], window);
    }
    return conn;
}

/* The responder listens on the connection's Service-ID. */
static void note_accepted(const struct connection *conn)
{
    struct endport *responder = endport_now(conn->endport[1]);
    if (responder && cm_service_of(responder->service_id) != SERVICE_IPOIB_RFC)
        responder->service_id = conn->service_id;
}

/*
 * The REQ of this REP was not captured. The QP that the REP names belongs to an unknown connection
 * now (IBA 12.9.8). Its own was refused or has ended; the REJ may follow the REP, if two REQs
 * crossed, and the DREQ may not have been captured.
 */
static void release_flow(struct connections *c, uint32_t frame, const struct cm *cm,
                         const struct port *src)
{
    struct flow *f = connections_flow(c, src, cm->qpn, false);
    if (!f || !f->connection)
        return;
    flow_end_older(f, NULL, frame);
    flow_release(f);
}

/*
 * The connection is over if a REP with another transaction ID came. If the connection's own REP
 * follows, the other one was late: it responds to an earlier REQ that had the same ID.
 */
static void note_rep(struct connection *conn, uint32_t frame)
{
    note_first_response(conn);
    conn->rep_frame = frame;
    if (!conn->dreq_frame)
        conn->drep_frame = 0;
}

/* Does the message have the transaction ID of the set-up, or the IDs of both ends? */
static bool has_ids_of(const struct connection *conn, const struct mad_payload *m)
{
    const struct cm *cm = &m->cm;
    uint32_t local = conn->requester.comm_id, remote = conn->responder.comm_id;
    if (conn->tid == m->mad.tid)
        return cm->local_comm_id == local || cm->remote_comm_id == local;
    return conn->responder.known && ((cm->local_comm_id == local && cm->remote_comm_id == remote) ||
                                     (cm->local_comm_id == remote && cm->remote_comm_id == local));
}

/*
 * The connection of the port at this LID to which the message belongs. The REQ may have come from
 * another LID of the port, if the capture does not show its LMC.
 */
static struct connection *lookup_at(const struct connections *c, const struct port *port,
                                    const struct mad_payload *m)
{
    uint16_t lid = port_to_lid(*port);
    const struct endport *p = lid ? endports_by_lid(c->ports, port_interface(*port), lid) : NULL;
    struct connection *conn = p ? p->connections : NULL;
    for (unsigned i = 0; conn && i < CONNECTIONS_SEARCHED; i++, conn = connection_older(conn, p))
        if (has_ids_of(conn, m))
            return conn;
    return NULL;
}

static struct connection *lookup_by_ends(const struct connections *c, const struct mad_payload *m,
                                         const struct port *src, const struct port *dst)
{
    struct connection *conn = lookup_at(c, src, m);
    return conn ? conn : lookup_at(c, dst, m);
}

static bool is_answered_by(const struct connection *conn, const struct mad_payload *m)
{
    return conn && conn->requester.comm_id == m->cm.remote_comm_id && conn->tid == m->mad.tid;
}

static struct connection *on_rep(struct connections *c, uint32_t frame, const struct mad_payload *m,
                                 const struct port *src, const struct port *dst)
{
    const struct cm *cm = &m->cm;
    struct connection *conn = connections_find(c, dst, cm->remote_comm_id);
    if (!is_answered_by(conn, m)) {
        struct connection *by_ends = lookup_by_ends(c, m, src, dst);
        conn = is_answered_by(by_ends, m) ? by_ends : conn;
    }
    if (!is_answered_by(conn, m)) {
        note_early_rep(c, frame, cm, dst);
        release_flow(c, frame, cm, src);
    }
    if (!conn || conn->requester.comm_id != cm->remote_comm_id)
        return NULL;
    /* for a REQ that was not captured: the requester reused its IDs, so this connection is over */
    if (conn->tid != m->mad.tid) {
        conn->drep_frame = conn->drep_frame ? conn->drep_frame : frame;
        return NULL;
    }
    if (conn->responder.known) /* repeated REP */
        return conn->responder.comm_id == cm->local_comm_id ? conn : NULL;
    note_rep(conn, frame);
    connections_add_side(c, &conn->responder, frame, src, cm);
    if (connection_is_ipoib(conn)) {
        read_private(&conn->responder, m);
        note_accepted(conn);
    }
    return conn;
}

static void note_message_frame(struct connection *conn, uint32_t frame, enum cm_message message)
{
    uint32_t *slot = message == CM_RTU    ? &conn->rtu_frame
                     : message == CM_REJ  ? &conn->rej_frame
                     : message == CM_DREQ ? &conn->dreq_frame
                     : message == CM_DREP ? &conn->drep_frame
                                          : NULL;
    if (slot == &conn->rtu_frame || slot == &conn->rej_frame)
        note_first_response(conn);
    if (slot && *slot == 0)
        *slot = frame;
}

/*
 * Does the requester refuse the REP (RFC 4755 section 3.2), which may not have been captured? Then
 * no connection is set up.
 */
static bool refuses_rep(const struct cm *cm, const struct port *src, const struct connection *conn)
{
    return !conn->rtu_frame && !conn->dreq_frame && connection_is_by_requester(conn, cm, *src);
}

/*
 * The sender refuses the REQ or the REP because it still has an older connection with these IDs
 * (IBA 12.6.7.2). It may still send on that one, which may use the same QP of the receiver.
 */
static void on_rej(const struct cm *cm, const struct port *src, struct connection *conn)
{
    bool has_older = cm->reason == CM_REJ_STALE || cm->reason == CM_REJ_DUPLICATE_COMM_ID;
    bool refused = refuses_rep(cm, src, conn);
    struct flow *to = refused ? &conn->responder.flow : &conn->requester.flow;
    conn->requester.refused |= refused;
    if (has_older && to->connection == conn)
        flow_release(to);
}

static void on_lap(struct connections *c, const struct cm *cm, const struct port *src,
                   struct connection *conn)
{
    bool from_requester = connection_is_by_requester(conn, cm, *src);
    const struct connection_side *to = from_requester ? &conn->responder : &conn->requester;
    if (to->known && to->flow.id.number != cm->qpn)
        return; /* of a later connection with the same communication IDs */
    flow_bind_lid(c, cm->alternate_local_lid, from_requester ? &conn->requester : &conn->responder);
    flow_bind_lid(c, cm->alternate_remote_lid,
                  from_requester ? &conn->responder : &conn->requester);
}

static void on_dreq(const struct cm *cm, const struct port *src, struct connection *conn)
{
    bool by_requester = connection_is_by_requester(conn, cm, *src);
    conn->dreq_by_requester |= by_requester;
    conn->dreq_by_responder |= !by_requester;
}

/*
 * Is the message one of this connection? REJ, RTU, and MRA to a REQ or a REP have the transaction
 * ID of the REQ (IBA 12.6.4). Another connection may have the same communication IDs later, and its
 * REQ may not have been captured. LAP and DREQ have transaction IDs of their own.
 */
static bool is_message_of(const struct connection *conn, const struct mad_payload *m)
{
    const struct cm *cm = &m->cm;
    bool set_up = cm->message == CM_REJ || cm->message == CM_RTU ||
                  (cm->message == CM_MRA && cm->which <= CM_MRA_REP);
    return conn && (!set_up || conn->tid == m->mad.tid);
}

struct connection *connections_message(struct connections *c, uint32_t frame, uint32_t window,
                                       const struct mad_payload *m, const struct port *src,
                                       const struct port *dst)
{
    const struct cm *cm = &m->cm;
    switch (cm->message) {
    case CM_REQ:
        return on_req(c, frame, window, m, src, dst);
    case CM_REP:
        return on_rep(c, frame, m, src, dst);
    case CM_SIDR_REQ:
    case CM_SIDR_REP:
        return NULL;
    default:
        break;
    }
    struct connection *conn = connections_find(c, dst, cm->remote_comm_id);
    if (!is_message_of(conn, m)) /* the remote ID may be 0 in a REJ (IBA 12.6.7): by the own ID */
        conn = connections_find(c, src, cm->local_comm_id);
    if (!is_message_of(conn, m))
        conn = lookup_by_ends(c, m, src, dst);
    if (!is_message_of(conn, m))
        return NULL;
    note_message_frame(conn, frame, cm->message);
    if (cm->message == CM_REJ)
        on_rej(cm, src, conn);
    else if (cm->message == CM_LAP)
        on_lap(c, cm, src, conn);
    else if (cm->message == CM_DREQ)
        on_dreq(cm, src, conn);
    return conn;
}
