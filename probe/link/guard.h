/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process beside the probe that undoes what the probe cannot any more: it is told of each
 * membership before the SA is asked for it and when it is left, and leaves what still stands when
 * the probe has gone without a word (SIGKILL).
 */
#ifndef IPOIB_PROBE_GUARD_H
#define IPOIB_PROBE_GUARD_H

#include "probe/link/leave.h"

/* What the guard is told; each word stands by itself. */
struct guard_word {
    bool stands; /* false: it was left */
    struct joined joined;
    char device[64];
    unsigned port;
    uint8_t gid[16];
    uint64_t sm_key; /* with which the SA tells of members; 0: it does not */
};

struct guard {
    int fd; /* words go there */
    int pid;
};

/*
 * Before any device or file is opened and any privilege dropped. false: there is none; guard_end()
 * does nothing then.
 */
bool guard_start(struct guard *g);
void guard_end(struct guard *g);

#endif
