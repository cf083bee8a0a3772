/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many addresses in one run: the first questions go out at the rate that was asked for, and who
 * answers is checked at once, many hosts at the same time. Memory does not grow with the number of
 * addresses.
 */
#ifndef IPOIB_PROBE_SWEEP_H
#define IPOIB_PROBE_SWEEP_H

#include "probe/run/options.h"
#include "probe/run/target.h"

struct sweep_job {
    const struct target_option *targets;
    unsigned n;
    /*
     * The result of an address that answered, or was named and did not; of a prefix, at its end,
     * what became of it.
     */
    void (*ready)(void *user, struct judged *j);
    void *user;
};
/* rest: where packets of stations that are not probed are logged. */
void run_sweep(struct target *rest, const struct sweep_job *job);

#endif
