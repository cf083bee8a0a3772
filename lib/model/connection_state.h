/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of connections. Only for the files that share them: connection.c (tables),
 * connection_flow.c (QPs), connection_messages.c (CM messages).
 */
#ifndef IPOIB_MODEL_CONNECTION_STATE_H
#define IPOIB_MODEL_CONNECTION_STATE_H

#include "model/slab.h"
#include "model/write.h"

/* REPs without a known REQ that are kept: the REQ may be captured after its response. */
enum { EARLY_REPS = 4 };
/* Direct-mapped cache of recent flows; it saves most hash table lookups. */
enum { RECENT_FLOWS = 256 };

struct connections {
    struct {
        struct port to;
        uint32_t comm_id, frame; /* frame 0: unused */
    } early_reps[EARLY_REPS];
    unsigned next_early_rep;
    GHashTable *by_comm_id; /* a set of struct connection_side */
    GHashTable *flows;      /* a set of struct flow */
    struct slab all;
    struct endports *ports;
    struct qpns *qpns; /* NULL: not known */
    unsigned limit;
    struct undone *undone;
    struct stream_store streams;
    struct flow *recent[RECENT_FLOWS];
};

/*
 * The connection that contains the side. side->flow.connection may differ: a flow can be rebound to
 * a later connection that has a path with the same LID and QPN.
 */
static inline struct connection *connection_of_side(const struct connection_side *s)
{
    size_t at = s->is_requester ? offsetof(struct connection, requester)
                                : offsetof(struct connection, responder);
    return (struct connection *)((char *)s - at);
}

/* The connection of the end at this port that assigned the communication ID. NULL: not known. */
struct connection *connections_find(struct connections *c, const struct port *port,
                                    uint32_t comm_id);

/* The REQ or REP in this frame names the side's port, communication ID and QPN. */
void connections_add_side(struct connections *c, struct connection_side *side, uint32_t frame,
                          const struct port *port, const struct cm *cm);

/*
 * Called when a flow leaves the table: its QP belongs to another connection now, or the model is
 * freed.
 */
void flow_drop(gpointer p);

/*
 * Data on this QP belongs to a connection that is not known. Incomplete messages of the older one
 * are discarded.
 */
void flow_release(struct flow *f);

/*
 * Another connection has this QP now (IBA 12.9.8), so the older one has ended, although its DREQ
 * and DREP may not have been captured. f: NULL, if the QP had no flow. now: NULL, if the other
 * connection is not known.
 */
void flow_end_older(const struct flow *f, const struct connection *now, uint32_t frame);

/*
 * Bind the QP to the side: data that the QP receives from now on belongs to it. It starts with the
 * PSN in the message (IBA 12.6.5, 12.6.8). Incomplete messages of an older connection are
 * discarded.
 */
void flow_bind(struct connections *c, struct connection_side *side, const struct cm *cm,
               uint32_t frame);

/* Bind a further LID of the side: of its primary or its alternate path. */
void flow_bind_lid(struct connections *c, uint16_t lid, const struct connection_side *side);

#endif
