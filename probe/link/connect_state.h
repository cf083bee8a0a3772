/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of connections by librdmacm, shared by the files connect*.c. */
#ifndef IPOIB_PROBE_CONNECT_STATE_H
#define IPOIB_PROBE_CONNECT_STATE_H

#include <rdma/rdma_cma.h>

#include "probe/link/connect.h"
#include "probe/link/transport.h"

/* STEP_MS: how often a wait tests for the stop signal */
enum { CONNECTIONS = CONNECTOR_FDS - 1, STEP_MS = 100 };
enum { RETRIES = 7, RNR_RETRIES = 6 }; /* RNR 7: retry forever (IBA 9.7.5.2.8) */

enum stage { NEW, ADDRESS_RESOLVED, ROUTE_RESOLVED, REP_RECEIVED, REJECTED, UNREACHABLE, FAILED };

/* One connection. */
struct rdma_connection {
    struct cm_connection base; /* first member: handed out to the user */
    struct connector *connector;
    enum stage stage;
    bool disconnecting, disconnected;
    int status;            /* of the event with which a step failed */
    int disconnect_status; /* 0: ended by a DREQ or DREP */
    struct rdma_cm_id *id;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *received, *sent;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    uint8_t *memory; /* SLOTS receive buffers and one send buffer */
};

struct connector {
    const struct port_facts *facts;
    const volatile int *stop;
    struct rdma_event_channel *events;
    struct rdma_connection *open[CONNECTIONS];
    /* The connection whose buffer the user holds; the next connector_receive() posts it again. */
    struct rdma_connection *held_by;
    unsigned held_slot;
};

/* Notes that the connection is not possible: what failed, and the errno. */
void connector_set_error(struct rdma_connection *conn, const char *what, int error);

/* ---- connect.c */

/* NULL: too many are open. The result is CONNECT_NOT_SENT. */
struct rdma_connection *connector_begin(struct connector *c, const struct connect_request *q);
bool connector_send_req(struct rdma_connection *conn);
void connector_destroy(struct rdma_connection *conn);

/* ---- connect_event.c */

/* Handles all events of the communication manager that have arrived. */
void connector_handle_events(struct connector *c);
/* Waits until the connection has left that stage. */
enum transport_result connector_await(struct rdma_connection *conn, enum stage from, gint64 end);

/* ---- connect_queue.c */

bool connector_create_queues(struct rdma_connection *conn);
void connector_free_queues(struct rdma_connection *conn);
/*
 * Changes the queue pair's state with the attributes from the communication manager, but with a
 * short ACK timeout so that lost packets are retransmitted soon. Returns 0 or an errno.
 */
int connector_change_state(struct rdma_connection *conn, enum ibv_qp_state state,
                           struct ibv_qp_attr *attr);
/* Completes the setup when the REP has arrived. Returns 0 or an errno. */
int connector_establish(struct rdma_connection *conn);

#endif
