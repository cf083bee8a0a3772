/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections, from their CM messages (IBA 12.9; RFC 4755 §3): who asked whom, whose service it is,
 * the QPNs, UD QPNs and Receive MTUs of both sides; and the flows of data that belong to them.
 *
 * A message is matched by the communication ID that its receiver gave the connection, with the
 * receiver's port: (port, communication ID) is unique, transaction IDs are not (a REJ may carry
 * another one). Communication IDs are used again: a REP has its REQ's transaction ID.
 */
#ifndef IPOIB_MODEL_CONNECTION_H
#define IPOIB_MODEL_CONNECTION_H

#include "model/endport.h"
#include "model/port.h"
#include "model/stream.h"
#include "wire/payload.h"

struct connection;

/* What arrives at one connected QP. */
struct flow {
    struct port_number id;         /* first: it is the key; the receiving port and the QPN */
    struct connection *connection; /* NULL: no handshake was seen */
    struct stream stream;
    uint32_t early_frame; /* the first IPoIB data that came without a REP: before a handshake of
                             this QP, or within it; 0: none */
    uint8_t to_requester : 1;
    uint8_t looked_ipoib : 1; /* without a connection, or behind its end: a message that began here
                                 looked like IPoIB */
    uint8_t heap : 1;         /* not a part of a connection */
};

struct connection_side {
    struct flow flow; /* what it receives, at the port of which its CM messages come; flow.id.number
                         is its QPN */
    uint32_t comm_id; /* with the port, it is a key */
    uint32_t ud_qpn, recv_mtu; /* of the private data, if has_private */
    uint8_t reserved;
    bool known : 1, has_private : 1; /* known: its REQ or REP was seen */
    bool asks : 1;                   /* it is the requester */
};

struct connection {
    struct connection_side requester, responder;
    struct connection
        *older[2]; /* of the same endport, as requester and as responder; NULL: none */
    struct endport
        *endport[2]; /* requester's and responder's, by the GIDs of the REQ; NULL: too many */
    uint64_t service_id;
    uint64_t tid;    /* of its REQ */
    uint32_t number; /* from 1, in the order of the capture */
    uint32_t req_frame, rep_frame, rtu_frame, rej_frame, dreq_frame, drep_frame; /* 0: not seen */
    uint32_t asked_ms; /* its REQ was last seen: ms since 1970, low 32 bits */
    uint32_t
        left_seconds; /* its interface left the broadcast group: s since 1970, low 32 bits; 0: no */
    uint16_t pkey;
    uint8_t transport : 3;        /* CM_TRANSPORT_* */
    uint8_t response_timeout : 5; /* of the REQ: exponent n of 4.096 us * 2^n */
    uint8_t service : 6;          /* enum cm_service */
    bool crossed : 1;             /* its REQ crossed one of the other side */
    bool torn_down : 1;           /* whether it ended with its interface is decided */
};

struct connections;

/*
 * limit: how many connections and flows are kept; what comes after is not tracked. ports: to know
 * the GIDs by.
 */
struct connections *connections_new(unsigned limit, struct endports *ports);
void connections_free(struct connections *c);

/*
 * A whole CM message, from port src to port dst, in frame number frame (from 1).
 * Returns its connection, NULL where none is known (the capture began later, or the limit is
 * reached).
 */
struct connection *connections_message(struct connections *c, uint32_t frame,
                                       const struct mad_payload *m, const struct port *src,
                                       const struct port *dst);

/* The flow to a QP; made if there is none and create is set. */
struct flow *connections_flow(struct connections *c, const struct port *dst, uint32_t qpn,
                              bool create);

/*
 * The connection's IPoIB MTU in octets (RFC 4755 §5.1); 0 until both sides' Receive MTU is known.
 */
uint32_t connection_mtu(const struct connection *c);

static inline bool connection_is_ipoib(const struct connection *c)
{
    return cm_service_is_ipoib((enum cm_service)c->service);
}

/* It was refused or ended: its QPs may be anybody's from now on. */
static inline bool connection_is_over(const struct connection *c)
{
    return c->rej_frame || c->dreq_frame || c->drep_frame;
}

/* Set up, and not at its end. */
static inline bool connection_is_open(const struct connection *c)
{
    return c->rep_frame && !connection_is_over(c);
}

/* The endport's connection before this one. */
static inline struct connection *connection_older(const struct connection *c,
                                                  const struct endport *of)
{
    return c->older[c->endport[0] == of ? 0 : 1];
}

/* Two interfaces turned out to see one subnet; after endports_merge(). */
void connections_merge(struct connections *c, uint16_t from, uint16_t to);

/* All, in the order of their REQs. */
const struct connection *connections_at(const struct connections *c, unsigned index);
unsigned connections_count(const struct connections *c);

/* What the capture's streams share. */
struct stream_store *connections_streams(struct connections *c);

#endif
