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

/* limit: how many are kept; later ones are not learnt. */
struct qpns *qpns_new(unsigned limit);
void qpns_free(struct qpns *s);
/* The QP, from now on known; NULL: there are too many. */
struct qp *qpns_learn(struct qpns *s, const struct port *port, uint32_t qpn);
/* The QP sent a datagram with this PSN. */
void qp_sent(struct qp *qp, uint32_t psn, uint32_t frame);
/*
 * Was each datagram captured that the QP sent after that frame and before the one with this PSN?
 */
bool qp_is_followed(const struct qp *qp, uint32_t since, uint32_t psn);
/* Two interfaces turned out to see one subnet. */
void qpns_merge(struct qpns *s, uint16_t from, uint16_t to);
/* NULL: it is not known. */
struct qp *qpns_find(struct qpns *s, const struct port *port, uint32_t qpn);

#endif
