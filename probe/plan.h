/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a run: targets that are tested together, through one port of this host. */
#ifndef IPOIB_PROBE_PLAN_H
#define IPOIB_PROBE_PLAN_H

#include "probe/link/choice.h"
#include "probe/run/options.h"

struct plan_part {
    const struct target_option *targets; /* consecutive addresses of the command line, or fabric */
    unsigned n;
    struct choice choice;
    char *name;         /* of one of several ports of the target fabric; NULL: the target's */
    char *unused;       /* ports that are not tested, with the first of several parts; NULL: none */
    char *why, *advice; /* why no port can be used, and what to do; NULL: choice has the port */
};

/* The parts of the run in order, as struct plan_part. Free them with g_array_unref(). */
GArray *plan_make(const struct options *o);
/* True if no later part uses the port of part number i. */
bool plan_port_ends(const GArray *parts, guint i);

#endif
