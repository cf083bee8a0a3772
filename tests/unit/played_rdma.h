/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulated librdmacm and libibverbs, for the tests of connections: a device, and a peer that
 * accepts every connection unless the test says otherwise. Each call of librdmacm is followed by
 * the event that the test sets for it.
 */
#ifndef IPOIB_TESTS_PLAYED_RDMA_H
#define IPOIB_TESTS_PLAYED_RDMA_H

#include "played_verbs.h"

#include <glib.h>
#include <infiniband/ib.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "probe/link/connect.h"
#include "probe/link/transport.h"

enum { QPN = 0x4a, PEER_QPN = 0x51, PEER_LID = 7, PSN = 0x1234, PEER_PSN = 0x4321 };
enum { CONNECTIONS = 8, RECEIVES = 8, CM_ACK_TIMEOUT = 18, EVENTS = 8 };

/* What the test sets; played_begin() resets it. */
struct played {
    /* An errno for each call that fails; 0: it succeeds. */
    struct {
        int channel, create, migrate, address, route, connect, establish, disconnect;
        int attributes, modify; /* for the transition to the state at */
        enum ibv_qp_state at;
        int qp, post_recv, post_send; /* and those of played_verbs */
        bool no_device;
    } fails;
    /* The event after each call; NULL: none. */
    struct {
        const struct rdma_cm_event *address, *route, *connect, *disconnect;
    } events;
    bool silent_cq; /* messages are not acknowledged */
    enum ibv_wc_status sent_status;
    unsigned signal_at;      /* a signal arrives during that call of a library, from 1; 0: none */
    bool signal_at_req;      /* a signal arrives when the REQ is sent */
    gint64 tick;             /* each reading of the clock takes that long, in microseconds */
    struct ibv_wc coming[4]; /* completions of received messages */
    unsigned n_coming;
};
extern struct played played;
extern volatile int stop;

/* What the calls did. */
struct seen {
    unsigned calls;
    unsigned connects, established, disconnects;
    struct rdma_conn_param request;
    uint8_t request_data[256];
    struct sockaddr_ib to;
    struct sockaddr_storage to_ip;
    unsigned rejects;
    int mode; /* IBV_QPT_RC or IBV_QPT_UC, of the ID */
    struct ibv_qp qp;
    enum ibv_qp_state states[4];
    unsigned n_states, timeout, posted, posted_before_rtr, notifies;
    unsigned n_sent, sent_size;
    uint8_t first_sent;
};
extern struct seen seen;

/* cmocka's setup and teardown: opens and frees the connector. Everything must be released. */
int played_begin(void **state);
int played_end(void **state);
/* An event of the connection that was made last. */
void played_event(const struct rdma_cm_event *event);
/* A message of n bytes arrives in that receive buffer. */
void played_message(unsigned slot, uint32_t n, enum ibv_wc_status status);

/* ---- the connection of a test */

extern const struct port_facts played_port;
extern const struct connect_request played_request;
extern struct connector *connector;
extern struct cm_connection *connection;
extern char why[160];

/* Private data of the peer's REP: 8 bytes of RFC 4755 section 6, then zeros (IBA 12.6.8). */
extern const uint8_t rep_data[196];

enum transport_result connect_as(const struct connect_request *q);
void connect_up(void);
/* Returns true if the peer responded to the DREQ. */
bool disconnect(void);
/* The reason must contain the words, and fit. */
void says(const char *words);

#define EVENT(name, ...) static const struct rdma_cm_event name = {__VA_ARGS__}

#endif
