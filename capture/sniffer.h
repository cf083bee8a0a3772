/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sniffer mode: the device copies each frame that its port sends or receives to a queue pair of
 * ours (ibv_create_flow with IBV_FLOW_ATTR_SNIFFER).
 */
#ifndef CAPTURE_SNIFFER_H
#define CAPTURE_SNIFFER_H

#include <stdbool.h>

#include "capture/device.h"
#include "capture/feed.h"
#include "capture/refusal.h"
#include "capture/rxring.h"

struct sniffer {
    struct device *device;
    struct rxring ring;
    struct ibv_qp *qp;
    struct ibv_flow *flow;
};

/* The memory and the completion queue. Returns false after a message. */
bool sniffer_create(struct sniffer *s, struct device *device, const struct rx_plan *plan);

/* The sniffer as what the receiving loop knows. S must stay. */
struct feed sniffer_feed(struct sniffer *s);

/* Ends what the feed and sniffer_create began. */
void sniffer_destroy(struct sniffer *s);

/* Whether the port can be sniffed, tried for a moment without receiving anything. */
struct refusal sniffer_try(struct device *device);

#endif
