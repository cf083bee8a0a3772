/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The QPs of which IPoIB datagrams came: what goes between them is IPoIB's, whatever it looks like. */
#ifndef IPOIB_MODEL_QPNS_H
#define IPOIB_MODEL_QPNS_H

#include "model/port.h"

struct qpns;

/* limit: how many are kept; later ones are not learnt. */
struct qpns *qpns_new(unsigned limit);
void qpns_free(struct qpns *s);
void qpns_learn(struct qpns *s, const struct port *port, uint32_t qpn);
bool qpns_known(const struct qpns *s, const struct port *port, uint32_t qpn);

#endif
