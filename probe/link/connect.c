/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connects and disconnects by librdmacm. See connect.h. */
#include "probe/link/connect_state.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <infiniband/ib.h>

#include "probe/link/cm_error.h"

enum { RESOLVE_MS = 1000 };

/* ---- connecting */

static void fill_address(struct sockaddr_ib *a, const uint8_t *gid, uint16_t pkey)
{
    *a = (struct sockaddr_ib){.sib_family = AF_IB, .sib_pkey = htons(pkey)};
    memcpy(&a->sib_addr, gid, 16);
}

/*
 * rdma_create_id() supports AF_IB connections as RC only; rdma_create_ep() accepts the QP type.
 * With RAI_PASSIVE it only binds and does not wait for the resolution of the remote end, which this
 * file does itself.
 */
static bool create_id(struct rdma_connection *conn)
{
    struct sockaddr_ib own;
    fill_address(&own, conn->connector->facts->gid, conn->base.req.pkey);
    struct rdma_addrinfo info = {.ai_flags = RAI_PASSIVE,
                                 .ai_family = AF_IB,
                                 .ai_qp_type = conn->base.req.uc ? IBV_QPT_UC : IBV_QPT_RC,
                                 .ai_port_space = RDMA_PS_IB,
                                 .ai_src_len = sizeof own,
                                 .ai_src_addr = (struct sockaddr *)&own};
    if (rdma_create_ep(&conn->id, &info, NULL, NULL)) {
        conn->id = NULL;
        return false;
    }
    conn->id->context = conn;
    return rdma_migrate_id(conn->id, conn->connector->events) == 0;
}

static void fill_peer_address(struct sockaddr_ib *peer, const struct connect_request *q)
{
    fill_address(peer, q->gid, q->pkey);
    peer->sib_sid = htobe64(q->service_id);
    peer->sib_sid_mask = UINT64_MAX;
}

/* Resolves the path to the Service-ID through the SA. */
static enum transport_result resolve_path(struct rdma_connection *conn)
{
    struct sockaddr_ib peer;
    const struct connect_request *q = &conn->base.req;
    fill_peer_address(&peer, q);
    gint64 end = g_get_monotonic_time() + (gint64)2 * RESOLVE_MS * 1000;
    if (!create_id(conn) ||
        rdma_resolve_addr(conn->id, NULL, (struct sockaddr *)&peer, RESOLVE_MS)) {
        conn->base.result = CONNECT_NOT_SENT;
        cm_error_text(CM_STEP_ADDRESS, errno, conn->connector->facts, q, conn->base.why,
                      sizeof conn->base.why);
        return TRANSPORT_NOTHING;
    }
    enum transport_result result = connector_await(conn, NEW, end);
    if (result == TRANSPORT_OK && conn->stage == ADDRESS_RESOLVED) {
        if (rdma_resolve_route(conn->id, RESOLVE_MS)) {
            connector_set_error(conn, "cannot query the path", errno);
            return TRANSPORT_NOTHING;
        }
        result = connector_await(conn, ADDRESS_RESOLVED, end);
    }
    if (result == TRANSPORT_STOPPED || conn->stage == ROUTE_RESOLVED)
        return result;
    conn->base.result = CONNECT_NOT_SENT;
    if (!conn->base.why[0]) /* the kernel's query times out earlier unless it hangs */
        cm_error_text(conn->stage == NEW ? CM_STEP_ADDRESS : CM_STEP_ROUTE, ETIMEDOUT,
                      conn->connector->facts, q, conn->base.why, sizeof conn->base.why);
    return TRANSPORT_NOTHING;
}

bool connector_send_req(struct rdma_connection *conn)
{
    struct ibv_qp_attr attr;
    struct timespec now;
    if (!connector_create_queues(conn)) {
        connector_set_error(
            conn, "cannot create a queue pair (check ulimit -l, the memory that may be locked)",
            errno ? errno : ENOMEM);
        return false;
    }
    int error = connector_change_state(conn, IBV_QPS_INIT, &attr);
    struct rdma_conn_param param = {.private_data = conn->base.req.private_data,
                                    .private_data_len = conn->base.req.private_size,
                                    .retry_count = RETRIES,
                                    .rnr_retry_count = RNR_RETRIES,
                                    .flow_control = 1,
                                    .qp_num = conn->qp->qp_num};
    clock_gettime(CLOCK_REALTIME, &now);
    conn->base.req_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    conn->base.retry_count = RETRIES;
    if (!error && rdma_connect(conn->id, &param))
        error = errno;
    if (error)
        connector_set_error(conn, "cannot send the REQ", error);
    return !error;
}

static void set_result(struct rdma_connection *conn)
{
    int error;
    conn->base.result = CONNECT_NO_RESPONSE;
    if (conn->stage == REJECTED)
        conn->base.result = CONNECT_REJECTED;
    else if (conn->stage == FAILED)
        conn->base.result = CONNECT_NOT_SENT;
    else if (conn->stage == REP_RECEIVED) {
        conn->base.result = CONNECT_ACCEPTED;
        error = connector_establish(conn);
        if (error)
            connector_set_error(conn, "cannot make the queue pair ready", error);
    }
}

/* Nothing has been sent yet: returning here leaves no connection open. */
static struct rdma_connection *new_connection(struct connector *c, const struct connect_request *q)
{
    struct rdma_connection *conn = g_new0(struct rdma_connection, 1);
    conn->connector = c;
    conn->base.req = *q;
    conn->base.result = CONNECT_NOT_SENT;
    return conn;
}

static bool add_connection(struct rdma_connection *conn)
{
    struct connector *c = conn->connector;
    for (unsigned i = 0; i < CONNECTIONS; i++)
        if (!c->open[i]) {
            c->open[i] = conn;
            return true;
        }
    connector_set_error(conn, "too many connections", EMFILE);
    return false;
}

struct rdma_connection *connector_begin(struct connector *c, const struct connect_request *q)
{
    struct rdma_connection *conn = new_connection(c, q);
    if (add_connection(conn))
        return conn;
    g_free(conn);
    return NULL;
}

enum transport_result connector_connect(struct connector *c, const struct connect_request *q,
                                        int ms, struct cm_connection **connection)
{
    struct rdma_connection *conn = new_connection(c, q);
    *connection = &conn->base;
    errno = 0;
    if (!add_connection(conn))
        return TRANSPORT_OK;
    enum transport_result result = resolve_path(conn);
    if (result == TRANSPORT_STOPPED)
        g_strlcpy(conn->base.why, "interrupted", sizeof conn->base.why);
    if (result == TRANSPORT_STOPPED || conn->stage != ROUTE_RESOLVED || !connector_send_req(conn))
        return result == TRANSPORT_STOPPED ? result : TRANSPORT_OK;
    result = connector_await(conn, ROUTE_RESOLVED, g_get_monotonic_time() + (gint64)ms * 1000);
    if (result == TRANSPORT_STOPPED) {
        conn->base.result = CONNECT_NO_RESPONSE;
        return result;
    }
    set_result(conn);
    return TRANSPORT_OK;
}

/* ---- disconnecting */

void connector_destroy(struct rdma_connection *conn)
{
    struct connector *c = conn->connector;
    if (c->held_by == conn)
        c->held_by = NULL;
    for (unsigned i = 0; i < CONNECTIONS; i++)
        if (c->open[i] == conn)
            c->open[i] = NULL;
    connector_free_queues(conn);
    /*
     * The kernel withdraws a pending REQ with a REJ and ends an established connection with a DREQ.
     */
    if (conn->id)
        rdma_destroy_id(conn->id);
    g_free(conn);
}

void connector_disconnect(struct connector *c, struct cm_connection *connection, int ms,
                          bool *answered)
{
    struct rdma_connection *conn = (struct rdma_connection *)connection;
    gint64 end = g_get_monotonic_time() + (gint64)ms * 1000;
    connector_handle_events(c);
    conn->disconnecting = !conn->disconnected;
    bool sent = connection->result == CONNECT_ACCEPTED && conn->disconnecting &&
                rdma_disconnect(conn->id) == 0;
    while (sent && !conn->disconnected && !*c->stop && g_get_monotonic_time() < end) {
        struct pollfd fd = {c->events->fd, POLLIN, 0};
        poll(&fd, 1, STEP_MS);
        connector_handle_events(c);
    }
    *answered = sent && conn->disconnected && conn->disconnect_status == 0;
    connector_destroy(conn);
}

/* ---- opening */

struct connector *connector_new(const struct port_facts *f, const volatile int *stop, char *why,
                                size_t size)
{
    errno = 0;
    struct rdma_event_channel *events = rdma_create_event_channel();
    if (!events) {
        bool denied = errno == EACCES || errno == EPERM;
        snprintf(why, size,
                 denied ? "this user may not open /dev/infiniband/rdma_cm"
                        : "/dev/infiniband/rdma_cm cannot be opened (modprobe rdma_ucm)");
        return NULL;
    }
    int flags = fcntl(events->fd, F_GETFL);
    fcntl(events->fd, F_SETFL, flags | O_NONBLOCK);
    struct connector *c = g_new0(struct connector, 1);
    *c = (struct connector){.facts = f, .stop = stop, .events = events};
    return c;
}

void connector_free(struct connector *c)
{
    for (unsigned i = 0; c && i < CONNECTIONS; i++)
        if (c->open[i]) {
            if (c->open[i]->base.result == CONNECT_ACCEPTED)
                rdma_disconnect(c->open[i]->id);
            connector_destroy(c->open[i]);
        }
    if (c)
        rdma_destroy_event_channel(c->events);
    g_free(c);
}
