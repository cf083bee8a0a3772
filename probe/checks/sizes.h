/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The largest size that gets a reply, and in which direction larger packets are lost. */
#ifndef IPOIB_PROBE_SIZES_H
#define IPOIB_PROBE_SIZES_H

#include "probe/run/target.h"

/* Does that size get a reply? */
typedef bool size_try(struct target *t, uint32_t size, void *user);
/* The largest size below BAD that gets a reply, by bisection; GOOD gets one, BAD does not. */
uint32_t sizes_bisect(struct target *t, uint32_t good, uint32_t bad, size_try *try, void *user);

/*
 * True if a limit of that many bytes is none that an interface has: it is not the MTU of an
 * InfiniBand link or one that administrators set. Then the peer did not choose it.
 */
bool sizes_is_no_mtu(uint32_t limit);

struct size_limits {
    uint32_t link;    /* the link's MTU */
    uint32_t largest; /* echo request and reply; 0: none gets a reply */
    bool gone;        /* it no longer replies to that size either */
    bool found;       /* larger ones get no reply, and this was confirmed */
    bool of_path;     /* found, and the limit is no MTU: larger packets are lost on the path */
    uint32_t request; /* the largest request that arrives; 0: unknown */
    uint32_t reply;   /* the largest reply that arrives; 0: unknown */
    bool fragments;   /* the peer fragments larger replies: the limit is its MTU */
};

/* Searches from the smallest echo request up to the link's MTU, over UD. */
struct size_limits sizes_search(struct target *t, uint32_t smallest, uint32_t link);
/* Adds the stage peer.sizes. */
void sizes_report(struct target *t, const struct size_limits *s);

#endif
