/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sniffer mode: the device copies every frame that its port sends or receives to the capture's
 * queue pair (ibv_create_flow with IBV_FLOW_ATTR_SNIFFER).
 */
#ifndef CAPTURE_SNIFFER_H
#define CAPTURE_SNIFFER_H

#include <glib.h>
#include <stdbool.h>

#include "hca/device.h"
#include "capture/receive/feed.h"
#include "capture/receive/refusal.h"
#include "capture/receive/rxring.h"

struct sniffer {
    struct device *device;
    struct rxring ring;
    struct ibv_qp *qp;
    struct ibv_flow *flow;
    bool again; /* the queue pair is being replaced */
};

/*
 * Allocates the memory, the receive ring and its completion queue. Returns false and sets ERROR if
 * that fails.
 */
bool sniffer_create(struct sniffer *s, struct device *device, const struct rx_plan *plan,
                    GError **error);

/* Returns the feed for the receive loop. S must outlive it. */
struct feed sniffer_feed(struct sniffer *s);

/* Frees everything. */
void sniffer_destroy(struct sniffer *s);

/* Tests whether the port supports this mode, without receiving anything. */
struct refusal sniffer_try(struct device *device);

#endif
