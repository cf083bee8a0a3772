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

/* NULL: it is not known. */
const struct qp *qpns_find(const struct qpns *s, const struct port *port, uint32_t qpn);

#endif
