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
    uint8_t scope; /* of the IPoIB groups that it sent to; 0: none so far */
};

struct qpns;

/* limit: how many are kept; later ones are not learnt. */
struct qpns *qpns_new(unsigned limit);
void qpns_free(struct qpns *s);
/* The QP, from now on known; NULL: there are too many. */
struct qp *qpns_learn(struct qpns *s, const struct port *port, uint32_t qpn);
/* Two interfaces turned out to see one subnet. */
void qpns_merge(struct qpns *s, uint16_t from, uint16_t to);
/* NULL: it is not known. */
struct qp *qpns_find(struct qpns *s, const struct port *port, uint32_t qpn);

#endif
