/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the parts of the command line (plan.h), each on its port. */
#ifndef IPOIB_PROBE_PARTS_H
#define IPOIB_PROBE_PARTS_H

#include <glib.h>

#include "probe/collect.h"
#include "probe/device.h"
#include "probe/exchange/peer.h"
#include "probe/link/guard.h"
#include "probe/link/link.h"
#include "probe/plan.h"
#include "probe/run/options.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

struct program {
    const struct options *o;
    struct run run;
    struct probe_link link; /* on the port of the part that runs */
    struct guard *guard;    /* NULL: it could not be started */
    struct peer no_peer;
    struct target rest; /* packets and findings of the run itself, before the first target */
    struct link_state link_state;
    struct collection *collection;
    bool at_last_targets; /* of a port: the last one's report waits until the groups are left */
    bool watched;         /* --count or --interval: the requests have begun */
    bool no_means;        /* a device or a privilege is missing */
};

/* Opens the port of the part, unless it is open or the part has none. */
void parts_begin_port(struct program *r, const struct plan_part *p);
/* Leaves the groups and closes the port that is open. */
void parts_close_port(struct program *r);
/* Runs all parts until one of them or a signal ends the run. */
void parts_run(struct program *r, const GArray *parts);
/* True if a signal ended the run. A watched peer is reported after a signal too. */
bool parts_interrupted(const struct program *r);
/* Prints a line of the report (say of struct run; user: struct program). */
void parts_say(void *user, const char *line);
/* A line of a watched peer in the other formats (show of struct run; user: struct program). */
void parts_show(void *user, const struct watch_line *line);

#endif
