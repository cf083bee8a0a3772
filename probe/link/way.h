/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way to a LID, switch by switch, as the switches' forwarding tables have it. */
#ifndef IPOIB_PROBE_WAY_H
#define IPOIB_PROBE_WAY_H

#include "probe/link/transport.h"

struct way_to_lid {
    unsigned switches;   /* that answered, from this port on */
    bool is_down;        /* the way ends at a port of the last of them that is Down: */
    uint8_t port;        /* its number there */
    uint16_t switch_lid; /* of that switch; 0: unknown */
};

/* Follows the way to the LID. No switches: none answers, or this user may not ask. */
struct way_to_lid way_follow(struct transport *t, uint16_t lid);

#endif
