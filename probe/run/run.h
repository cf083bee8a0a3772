/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the targets of one run share: the options, the rate, the signal that ends the run, and what
 * is known of the SA.
 */
#ifndef IPOIB_PROBE_RUN_H
#define IPOIB_PROBE_RUN_H

#include <glib.h>

#include "probe/run/options.h"

/*
 * What came of a question to the SA. SA_BUSY: it answers, but not the question, however often it is
 * asked (IBA 13.4.7). SA_BROKEN: this side could not ask, or could not take the answer.
 */
enum sa_result { SA_TOLD, SA_REFUSED, SA_SILENT, SA_BUSY, SA_BROKEN };

/* What the SA answered (link/sa.c). */
struct sa_cache {
    unsigned silences;      /* times in a row that the SA was silent or busy */
    enum sa_result silence; /* the last of them: SA_SILENT or SA_BUSY */
    GPtrArray *answers;     /* during a sweep, for the hosts that share them */
};

struct run {
    const struct options *options;
    const volatile int *stop; /* the signal that came; 0: none */
    gint64 next_slot;         /* monotonic microseconds: when the rate allows the next packet */
    uint16_t sequence;        /* number of the last echo request or SA question */
    /* A sweep runs: the SA's share counts for the rate, and a silent SA is given up. */
    bool sweeps;
    struct sa_cache sa;
    bool stopped, broken; /* by a signal; by an error of the transport */
};

#endif
