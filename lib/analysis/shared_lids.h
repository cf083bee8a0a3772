/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LIDs that the subnet manager gave to two ports (shared_lids.c). Private to analysis/. */
#ifndef IPOIB_ANALYSIS_SHARED_LIDS_H
#define IPOIB_ANALYSIS_SHARED_LIDS_H

#include "analysis/watch.h"

enum { SHARED_LIDS = 1 << 10 };

/* A cache: a LID that is overwritten by another counts as not seen before. */
struct lid_owner {
    uint8_t first[GID_SIZE], second[GID_SIZE];
    uint64_t route;       /* to the first port */
    int64_t ns;           /* of the second port's PortInfo */
    uint32_t frame;       /* the same; 0: there is no second */
    uint16_t subnet, lid; /* LID 0: unused */
};

struct shared_lids {
    struct lid_owner all[SHARED_LIDS];
    bool any; /* a second port had a LID */
};

#endif
