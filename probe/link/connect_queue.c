/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queue pairs of connections, and the messages over them. See connect_state.h. */
#include "probe/link/connect_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { SLOTS = 8, SEND_WAIT_MS = 2000 };
/* Larger than every Receive MTU: an oversized message does not end the connection. */
enum { SLOT_SIZE = 1 << 17 };
/* 67 ms (IBA 11.2.5.2: 4.096 us * 2^n). A message fails after 0.5 s. */
enum { ACK_TIMEOUT = 14 };

/* ---- the queue pair */

static bool post_receive(struct rdma_connection *conn, unsigned slot)
{
    struct ibv_sge sge = {(uintptr_t)(conn->memory + (size_t)slot * SLOT_SIZE), SLOT_SIZE,
                          conn->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;
    return ibv_post_recv(conn->qp, &wr, &bad) == 0;
}

bool connector_create_queues(struct rdma_connection *conn)
{
    struct ibv_context *context = conn->id ? conn->id->verbs : NULL;
    if (!context)
        return false;
    conn->memory = g_malloc0((size_t)(SLOTS + 1) * SLOT_SIZE);
    conn->pd = ibv_alloc_pd(context);
    conn->channel = ibv_create_comp_channel(context);
    if (!conn->pd || !conn->channel)
        return false;
    conn->mr = ibv_reg_mr(conn->pd, conn->memory, (size_t)(SLOTS + 1) * SLOT_SIZE,
                          IBV_ACCESS_LOCAL_WRITE);
    conn->received = ibv_create_cq(context, SLOTS, NULL, conn->channel, 0);
    conn->sent = ibv_create_cq(context, 4, NULL, NULL, 0);
    if (!conn->mr || !conn->received || !conn->sent)
        return false;
    struct ibv_qp_init_attr init = {
        .send_cq = conn->sent,
        .recv_cq = conn->received,
        .qp_type = conn->base.req.uc ? IBV_QPT_UC : IBV_QPT_RC,
        .sq_sig_all = 1,
        .cap = {.max_send_wr = 2, .max_recv_wr = SLOTS, .max_send_sge = 1, .max_recv_sge = 1}};
    conn->qp = ibv_create_qp(conn->pd, &init);
    if (!conn->qp)
        return false;
    ibv_req_notify_cq(conn->received, 0);
    conn->base.qpn = conn->qp->qp_num;
    return true;
}

/*
 * Changes the queue pair's state with the attributes from the communication manager, but with a
 * short ACK timeout so that lost packets are retransmitted soon.
 */
int connector_change_state(struct rdma_connection *conn, enum ibv_qp_state state,
                           struct ibv_qp_attr *attr)
{
    int mask;
    *attr = (struct ibv_qp_attr){.qp_state = state};
    if (rdma_init_qp_attr(conn->id, attr, &mask))
        return errno;
    struct ibv_qp_attr own = *attr;
    own.timeout = ACK_TIMEOUT;
    return ibv_modify_qp(conn->qp, &own, mask);
}

/* The REP has arrived. */
int connector_establish(struct rdma_connection *conn)
{
    struct ibv_qp_attr attr;
    int error = 0;
    for (unsigned i = 0; i < SLOTS && !error; i++)
        error = post_receive(conn, i) ? 0 : ENOMEM;
    if (!error)
        error = connector_change_state(conn, IBV_QPS_RTR, &attr);
    if (error)
        return error;
    conn->base.peer_qpn = attr.dest_qp_num;
    conn->base.peer_psn = attr.rq_psn;
    conn->base.peer_lid = attr.ah_attr.dlid;
    conn->base.sl = attr.ah_attr.sl;
    conn->base.path_mtu = (uint8_t)attr.path_mtu;
    error = connector_change_state(conn, IBV_QPS_RTS, &attr);
    conn->base.psn = attr.sq_psn;
    conn->base.ack_timeout = attr.timeout;
    if (error)
        return error;
    return rdma_establish(conn->id) ? errno : 0;
}

void connector_free_queues(struct rdma_connection *conn)
{
    if (conn->qp)
        ibv_destroy_qp(conn->qp);
    if (conn->received)
        ibv_destroy_cq(conn->received);
    if (conn->sent)
        ibv_destroy_cq(conn->sent);
    if (conn->mr)
        ibv_dereg_mr(conn->mr);
    if (conn->channel)
        ibv_destroy_comp_channel(conn->channel);
    if (conn->pd)
        ibv_dealloc_pd(conn->pd);
    g_free(conn->memory);
}

/* ---- messages */

enum transport_result connector_send(struct connector *c, struct cm_connection *connection,
                                     const uint8_t *bytes, uint32_t n)
{
    struct rdma_connection *conn = (struct rdma_connection *)connection;
    uint8_t *slot = conn->memory + (size_t)SLOTS * SLOT_SIZE;
    struct ibv_wc wc;
    int done = 0;
    connector_handle_events(c);
    if (connection->dead || connection->result != CONNECT_ACCEPTED)
        return TRANSPORT_NOTHING;
    memcpy(slot, bytes, n);
    struct ibv_sge sge = {(uintptr_t)slot, n, conn->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
    int error = ibv_post_send(conn->qp, &wr, &bad);
    gint64 end = g_get_monotonic_time() + (gint64)SEND_WAIT_MS * 1000;
    while (!error && (done = ibv_poll_cq(conn->sent, 1, &wc)) == 0 && g_get_monotonic_time() < end)
        if (*c->stop)
            return TRANSPORT_STOPPED;
    if (done > 0 && wc.status == IBV_WC_SUCCESS)
        return TRANSPORT_OK;
    connection->dead = true;
    connection->lost = !error && (done == 0 || wc.status == IBV_WC_RETRY_EXC_ERR);
    snprintf(connection->why, sizeof connection->why,
             "cannot send a message of %u bytes over the connection: %s%s", n,
             error      ? strerror(error)
             : done > 0 ? ibv_wc_status_str(wc.status)
                        : "not acknowledged in time",
             connection->lost ? ": it or its acknowledgement is lost on the path" : "");
    return TRANSPORT_NOTHING;
}

static bool poll_received(struct rdma_connection *conn, struct ud_from *from)
{
    struct ibv_wc wc;
    while (conn->received && ibv_poll_cq(conn->received, 1, &wc) > 0) {
        unsigned slot = (unsigned)wc.wr_id;
        if (wc.status != IBV_WC_SUCCESS)
            continue; /* the queue pair is in the error state and receives nothing more */
        *from = (struct ud_from){
            .bytes = view_make(conn->memory + (size_t)slot * SLOT_SIZE, wc.byte_len, wc.byte_len),
            .connection = &conn->base,
            .qpn = conn->base.peer_qpn,
            .lid = conn->base.peer_lid,
            .sl = conn->base.sl};
        conn->connector->held_by = conn;
        conn->connector->held_slot = slot;
        return true;
    }
    return false;
}

static void ack_completion_event(struct rdma_connection *conn)
{
    struct pollfd fd = {conn->channel->fd, POLLIN, 0};
    struct ibv_cq *cq;
    void *context;
    if (poll(&fd, 1, 0) > 0 && ibv_get_cq_event(conn->channel, &cq, &context) == 0) {
        ibv_ack_cq_events(cq, 1);
        ibv_req_notify_cq(conn->received, 0);
    }
}

bool connector_receive(struct connector *c, struct ud_from *from)
{
    connector_handle_events(c);
    if (c->held_by)
        post_receive(c->held_by, c->held_slot);
    c->held_by = NULL;
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        struct rdma_connection *conn = c->open[i];
        if (!conn || conn->base.result != CONNECT_ACCEPTED || !conn->channel)
            continue;
        ack_completion_event(conn);
        if (poll_received(conn, from))
            return true;
    }
    return false;
}

unsigned connector_fds(struct connector *c, struct pollfd fds[CONNECTOR_FDS])
{
    unsigned n = 0;
    fds[n++] = (struct pollfd){c->events->fd, POLLIN, 0};
    for (unsigned i = 0; i < CONNECTIONS; i++)
        if (c->open[i] && c->open[i]->channel)
            fds[n++] = (struct pollfd){c->open[i]->channel->fd, POLLIN, 0};
    return n;
}
