/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of librdmacm. See connect_state.h. */
#include "probe/link/connect_state.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "probe/link/cm_error.h"

void connector_set_error(struct rdma_connection *conn, const char *what, int error)
{
    conn->base.result = CONNECT_NOT_SENT;
    snprintf(conn->base.why, sizeof conn->base.why, "%s: %s", what, strerror(error));
}

static void copy_private_data(struct rdma_connection *conn, const struct rdma_conn_param *p)
{
    conn->base.private_size = MIN(p->private_data_len, REP_PRIVATE_SIZE);
    if (p->private_data)
        memcpy(conn->base.private_data, p->private_data, conn->base.private_size);
}

static void set_failed(struct rdma_connection *conn, enum cm_step step,
                       const struct rdma_cm_event *e)
{
    conn->stage = step == CM_STEP_REQ ? UNREACHABLE : FAILED;
    conn->status = e->status;
    conn->base.dead = step != CM_STEP_REQ;
    cm_error_text(step, e->status, conn->connector->facts, &conn->base.req, conn->base.why,
                  sizeof conn->base.why);
}

static void handle_failure(struct rdma_connection *conn, const struct rdma_cm_event *e)
{
    static const struct {
        enum rdma_cm_event_type event;
        enum cm_step step;
    } failures[] = {{RDMA_CM_EVENT_UNREACHABLE, CM_STEP_REQ},
                    {RDMA_CM_EVENT_ADDR_ERROR, CM_STEP_ADDRESS},
                    {RDMA_CM_EVENT_ROUTE_ERROR, CM_STEP_ROUTE},
                    {RDMA_CM_EVENT_CONNECT_ERROR, CM_STEP_CONNECT},
                    {RDMA_CM_EVENT_DEVICE_REMOVAL, CM_STEP_DEVICE}};
    for (size_t i = 0; i < G_N_ELEMENTS(failures); i++)
        if (failures[i].event == e->event)
            set_failed(conn, failures[i].step, e);
}

static void handle_event(struct rdma_connection *conn, const struct rdma_cm_event *e)
{
    switch (e->event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
        conn->stage = ADDRESS_RESOLVED;
        break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
        conn->stage = ROUTE_RESOLVED;
        break;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
        copy_private_data(conn, &e->param.conn);
        conn->stage = REP_RECEIVED;
        break;
    case RDMA_CM_EVENT_REJECTED:
        copy_private_data(conn, &e->param.conn);
        conn->base.reason = (uint16_t)e->status; /* ib_cm uses the IBA's reason codes */
        conn->stage = REJECTED;
        break;
    case RDMA_CM_EVENT_DISCONNECTED:
        conn->base.ended_by_peer = !conn->disconnecting;
        conn->disconnected = conn->base.dead = true;
        conn->disconnect_status = e->status;
        break;
    default:
        handle_failure(conn, e);
    }
}

void connector_handle_events(struct connector *c)
{
    struct rdma_cm_event *e;
    while (rdma_get_cm_event(c->events, &e) == 0) {
        if (e->id && e->id->context)
            handle_event(e->id->context, e);
        rdma_ack_cm_event(e);
    }
}

enum transport_result connector_await(struct rdma_connection *conn, enum stage from, gint64 end)
{
    struct connector *c = conn->connector;
    while (conn->stage == from) {
        gint64 left = (end - g_get_monotonic_time() + 999) / 1000;
        if (*c->stop)
            return TRANSPORT_STOPPED;
        if (left <= 0)
            return TRANSPORT_NOTHING;
        struct pollfd fd = {c->events->fd, POLLIN, 0};
        poll(&fd, 1, (int)MIN(left, STEP_MS));
        connector_handle_events(c);
    }
    return TRANSPORT_OK;
}
