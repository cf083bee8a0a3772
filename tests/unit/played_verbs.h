/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a simulated libibverbs that the tests of UD packets and of connections share:
 * protection domain, completion channel and queues, memory region.
 */
#ifndef IPOIB_TESTS_PLAYED_VERBS_H
#define IPOIB_TESTS_PLAYED_VERBS_H

#include "unit.h"

#include <infiniband/verbs.h>

struct played_verbs {
    struct {
        int pd, mr, cq; /* an errno for each call that fails; 0: it succeeds */
    } fails;
    /* Called by each function that can fail, if set; otherwise errno is set. Returns 0 or -1. */
    int (*called)(int error);
    struct ibv_context context;
    struct ibv_comp_channel channel;
    int event_pipe; /* a byte for each event of the channel */
    struct ibv_cq received, sent;
    unsigned events; /* acknowledged events */
    int live;        /* resources that are not released */
};
extern struct played_verbs played_verbs;

/* The completion channel becomes readable. */
void played_completion_event(void);

#endif
