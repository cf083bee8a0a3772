/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A second process that cleans up if the probe is killed (SIGKILL). The probe notifies it before
 * each join request to the SA and after each leave. When the probe has ended, the guard leaves the
 * groups that the probe has not left. capture/multicast/keeper.h says why captures have a process
 * of another kind.
 */
#ifndef IPOIB_PROBE_GUARD_H
#define IPOIB_PROBE_GUARD_H

#include "probe/link/leave.h"

/* A notification to the guard. Each is complete in itself. */
struct guard_message {
    bool joined_now; /* false: the group was left */
    struct joined joined;
    char device[64];
    unsigned port;
    uint8_t gid[16];
    uint64_t sm_key; /* with which the SA discloses members; 0: none */
};

struct guard {
    int fd; /* notifications are sent here */
    int pid;
};

/*
 * Call it before opening any device or file and before dropping privileges. Returns false if the
 * process could not be started; guard_end() then does nothing.
 */
bool guard_start(struct guard *g);
void guard_end(struct guard *g);

#endif
