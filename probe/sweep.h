/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many addresses in one run: the first questions go out at the rate that was asked for, and who
 * answers is checked at once, many hosts at the same time. Memory does not grow with the number of
 * addresses.
 */
#ifndef IPOIB_PROBE_SWEEP_H
#define IPOIB_PROBE_SWEEP_H

#include "probe/probe.h"

struct sweep_job {
    const struct target *targets;
    unsigned n;
    /*
     * The result of an address that answered, or was named and did not; of a prefix, at its end,
     * what became of it.
     */
    void (*ready)(void *user, struct judged *j);
    void *user;
};
void run_sweep(struct probe *p, const struct sweep_job *job);

/* Takes progress off the terminal, before something else is written there. */
void sweep_hide(void);

/* await_packet for one of the hosts: the others go on meanwhile. */
bool sweep_await(struct probe *p, int ms, packet_match *match, void *user);

#endif
