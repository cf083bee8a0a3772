/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes many addresses in one run: the first requests are sent at the requested rate. Addresses
 * that respond are checked immediately, many hosts at the same time. Memory does not grow with the
 * number of addresses.
 */
#ifndef IPOIB_PROBE_SWEEP_H
#define IPOIB_PROBE_SWEEP_H

#include "probe/run/options.h"
#include "probe/run/target.h"

struct sweep_job {
    const struct target_option *targets;
    unsigned n;
    /*
     * Called with the result of an address that responded, or was named and did not respond. For a
     * prefix, called at its end with the statistics.
     */
    void (*ready)(void *user, struct checked *j);
    void *user;
};
/* rest: logs packets of stations that are not probed. */
void sweep_run(struct target *rest, const struct sweep_job *job);

#endif
