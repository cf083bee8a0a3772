/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queue pair to which a device's sniffer copies the port's packets. */
#ifndef CAPTURE_SNIFFQP_H
#define CAPTURE_SNIFFQP_H

#include "capture/receive/refusal.h"
#include "capture/receive/rxring.h"

/*
 * Creates a queue pair of TYPE, UD or RAW_PACKET, for the ring and its device's port, in state RTR;
 * no receives are posted. *QP is NULL if it is refused.
 */
struct refusal sniffqp_create(const struct rxring *ring, enum ibv_qp_type type, struct ibv_qp **qp);

#endif
