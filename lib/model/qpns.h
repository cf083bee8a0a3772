/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The QPs of which IPoIB datagrams came: what goes between them is IPoIB's, whatever it looks like.
 */
#ifndef IPOIB_MODEL_QPNS_H
#define IPOIB_MODEL_QPNS_H

#include "model/port.h"

/* A QP by what it last sent. */
struct qp {
    struct port_number id; /* first: it is the key */
    uint32_t qkey;
    uint16_t pkey;
    uint8_t scope;      /* of the IPoIB groups that it sent to; 0: none so far */
    uint32_t psn;       /* of its last datagram; they count up one by one (IBA 9.8.2.2) */
    uint32_t gap_frame; /* the last frame before which a datagram of it is missing; 0: none */
};

struct qpns;

/* Is it the PSN after the last one, or the last one again (a packet that was captured twice)? */
bool qp_continues(const struct qp *qp, uint32_t psn);
/*
 * Was each datagram captured that the QP sent after that frame and before the one with this PSN?
 */
bool qp_is_followed(const struct qp *qp, uint32_t since, uint32_t psn);
/* NULL: it is not known. */
const struct qp *qpns_find(const struct qpns *s, const struct port *port, uint32_t qpn);

#endif
