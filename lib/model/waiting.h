/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to the SA, or of a subnet manager, of which no response was captured. */
#ifndef IPOIB_MODEL_WAITING_H
#define IPOIB_MODEL_WAITING_H

#include "model/port.h"

struct waiting;

/* Free with g_free(). */
struct waiting *waiting_new(void);

/*
 * A request of this port, at this time, and a response to this port; or of a directed route. place:
 * port_transaction_place() of both.
 */
void waiting_request(struct waiting *all, const struct port *requester, uint64_t tid,
                     unsigned place, uint32_t frame, int64_t ns);
void waiting_response(struct waiting *all, const struct port *requester, uint64_t tid,
                      unsigned place);

/*
 * Two interfaces turned out to see one subnet: those that wait are forgotten, because their ports
 * may have had another number.
 */
void waiting_merge(struct waiting *all);

/* How many have no response, as if the capture ended now; frame: of the first of them. */
uint64_t waiting_count(const struct waiting *all, int64_t now, uint32_t *frame);

#endif
