/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Multicast mode, for every HCA: a UD queue pair that is attached to a partition's IPoIB groups. It
 * receives what is sent to them, ARP, Neighbour Discovery and IP multicast of the whole link; what
 * is sent to one port alone it does not.
 */
#ifndef CAPTURE_MULTICAST_H
#define CAPTURE_MULTICAST_H

#include <stdbool.h>

#include "capture/feed.h"
#include "capture/keeper.h"
#include "capture/refusal.h"
#include "hca/mcgroup.h"

struct multicast_plan {
    struct rx_plan rx;
    unsigned pkey;       /* of the partition; 0: the first in the port's table */
    bool broadcast_only; /* the broadcast group, and no others */
};

struct multicast {
    struct device *device;
    struct rxring ring;
    struct ibv_qp *qp;
    struct keeper keeper;
    uint16_t pkey, pkey_index;
    bool broadcast_only;
    bool link; /* the broadcast group is known: */
    uint8_t link_mgid[GID_SIZE];
    uint32_t qkey; /* of the broadcast group, and so of the queue pair */
    bool started;
    unsigned replaced; /* how often the keeper was */
    bool looked;       /* the keeper has told what there was at first */
    bool attach_told, qkey_told;
    GHashTable *groups; /* by MGID; those that are gone included, for frames that came before */
    uint8_t *frame;     /* the one that is being rebuilt */
};

/* What a file says of frames that were captured so. */
#define MULTICAST_REMARK                                                                           \
    "multicast mode: LRH, BTH and DETH are rebuilt from completions; VL, BTH's SE, M, A and PSN, and the CRCs are 0"

/* The memory and the completion queue. Returns false after a message. */
bool multicast_create(struct multicast *m, struct device *device,
                      const struct multicast_plan *plan);

/* As what the receiving loop knows. M must stay. */
struct feed multicast_feed(struct multicast *m);

/* Ends what the others began. */
void multicast_destroy(struct multicast *m);

/* Whether the port can do this, tried for a moment without joining anything. */
struct refusal multicast_try(struct device *device);

#endif
