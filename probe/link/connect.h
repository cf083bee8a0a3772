/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections through librdmacm, for verbs.c: active side only, with any Service-ID and any private
 * data (AF_IB). The kernel's communication manager exchanges the messages; the probe owns the queue
 * pairs.
 */
#ifndef IPOIB_PROBE_CONNECT_H
#define IPOIB_PROBE_CONNECT_H

#include <poll.h>

#include "probe/link/transport.h"

struct connector;

enum { CONNECTOR_FDS = 9 };

/*
 * Returns NULL and writes the reason to why if connections are not possible. f and stop must
 * outlive the caller.
 */
struct connector *connector_new(const struct port_facts *f, const volatile int *stop, char *why,
                                size_t size);
/* Ends all open connections. */
void connector_free(struct connector *c);

/* The same semantics as the transport's connect, try_rdma_cm, send_connected and disconnect. */
enum transport_result connector_connect(struct connector *c, const struct connect_request *q,
                                        int ms, struct cm_connection **connection);
enum transport_result connector_try(struct connector *c, struct cm_trial *trial, int ms);
enum transport_result connector_send(struct connector *c, struct cm_connection *connection,
                                     const uint8_t *bytes, uint32_t n);
void connector_disconnect(struct connector *c, struct cm_connection *connection, int ms,
                          bool *answered);

/*
 * Returns the next message from any connection, if there is one. It is valid until the next call of
 * this function.
 */
bool connector_receive(struct connector *c, struct ud_from *from);
/* File descriptors to wait on for the next message; call connector_receive() after the wait. */
unsigned connector_fds(struct connector *c, struct pollfd fds[CONNECTOR_FDS]);

#endif
