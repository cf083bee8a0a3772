/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Multicast mode, for every HCA: a UD queue pair attached to the IPoIB groups of a partition. It
 * receives everything sent to these groups: ARP, Neighbour Discovery and IP multicast of the whole
 * link. It does not receive unicast traffic.
 */
#ifndef CAPTURE_MULTICAST_H
#define CAPTURE_MULTICAST_H

#include <glib.h>
#include <stdbool.h>

#include "capture/receive/feed.h"
#include "capture/multicast/keeper.h"
#include "capture/receive/refusal.h"
#include "hca/mcgroup.h"

struct multicast_plan {
    struct rx_plan rx;
    unsigned pkey;       /* P_Key of the partition; 0: the first in the port's table */
    bool broadcast_only; /* only the broadcast group */
};

struct multicast {
    struct device *device;
    struct rxring ring;
    struct ibv_qp *qp;
    struct keeper keeper;
    uint16_t pkey, pkey_index;
    bool broadcast_only;
    bool link; /* the broadcast group is known; its MGID is link_mgid */
    uint8_t link_mgid[GID_SIZE];
    uint32_t qkey; /* Q_Key of the broadcast group, used by the queue pair */
    bool started;
    unsigned replaced; /* number of times the keeper was restarted */
    bool looked;       /* the keeper has reported the first whole table */
    bool again;        /* the queue pair was in use, and is being replaced */
    bool attach_reported, qkey_reported;
    GHashTable *groups; /* by MGID; deleted groups stay, for frames received before the deletion */
    uint8_t *frame;     /* buffer for the rebuilt frame */
};

/* Remark in the capture file about frames captured in this mode. */
#define MULTICAST_REMARK                                                                           \
    "multicast mode: LRH, BTH and DETH are rebuilt from completions; VL, BTH's SE, M, A and PSN, and the CRCs are 0"

/*
 * Allocates the memory, the receive ring and its completion queue. Returns false and sets ERROR if
 * that fails.
 */
bool multicast_create(struct multicast *m, struct device *device, const struct multicast_plan *plan,
                      GError **error);

/* Returns the feed for the receive loop. M must outlive it. */
struct feed multicast_feed(struct multicast *m);

/* Frees everything and ends the keeper. */
void multicast_destroy(struct multicast *m);

/* Tests whether the port supports this mode, without joining a group. */
struct refusal multicast_try(struct device *device);

#endif
