/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections, from their CM messages (IBA 12.9; RFC 4755 §3): who asked whom, whose service it is, the QPNs,
 * UD QPNs and Receive MTUs of both sides; and the flows of data that belong to them.
 *
 * A message is matched by the communication ID that its receiver gave the connection, with the receiver's
 * port: (port, communication ID) is unique, transaction IDs are not (a REJ may carry another one).
 */
#ifndef IPOIB_MODEL_CONNECTION_H
#define IPOIB_MODEL_CONNECTION_H

#include "model/port.h"
#include "model/stream.h"
#include "wire/cm.h"

struct connection_side {
    struct port port;            /* where its CM messages come from */
    uint32_t comm_id;
    uint32_t qpn;                /* of the connection; known when its REQ or REP was seen */
    bool known, has_private;
    struct cm_private private;   /* IPoIB's (RFC 4755 §6) */
};

struct connection {
    uint32_t number; /* from 1, in the order of the capture */
    uint64_t service_id;
    enum cm_service service;
    uint8_t transport; /* CM_TRANSPORT_* */
    uint16_t pkey;
    struct connection_side requester, responder;
    uint32_t req_frame, rep_frame, rtu_frame, rej_frame, dreq_frame, drep_frame; /* 0: not seen */
};

/* What arrives at one connected QP. */
struct flow {
    struct connection *connection; /* NULL: no handshake was seen */
    bool to_requester;
    bool looked_ipoib;             /* without handshake: a message that began here looked like IPoIB */
    struct stream stream;
};

struct connections;

/* limit: how many connections and flows are kept; what comes after is not tracked. */
struct connections *connections_new(unsigned limit);
void connections_free(struct connections *c);

/*
 * A CM message, from port src to port dst, in frame number frame (from 1). mad begins at the MAD.
 * Returns its connection, NULL where none is known (the capture began later, or the limit is reached).
 */
struct connection *connections_message(struct connections *c, uint32_t frame, const struct cm *cm, struct view mad,
                                       const struct port *src, const struct port *dst);

/* The flow to a QP; made if there is none and create is set. */
struct flow *connections_flow(struct connections *c, const struct port *dst, uint32_t qpn, bool create);

/* The connection's IPoIB MTU in octets (RFC 4755 §5.1); 0 until both sides' Receive MTU is known. */
uint32_t connection_mtu(const struct connection *c);

static inline bool connection_is_ipoib(const struct connection *c)
{
    return cm_service_is_ipoib(c->service);
}

/* Message numbers of the capture's streams. */
uint32_t *connections_counter(struct connections *c);

#endif
