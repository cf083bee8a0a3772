/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target node: what is wrong with the InfiniBand ports and IPoIB interfaces of this host. It is
 * harmless on every node of a cluster, every minute: see doc/monitoring.md.
 */
#ifndef IPOIB_PROBE_NODE_RUN_H
#define IPOIB_PROBE_NODE_RUN_H

#include "probe/node/ask.h"
#include "probe/node/judge.h"
#include "probe/run/options.h"

struct node_run {
    const struct options *o;
    const char *version;
    GArray *links;   /* struct node_link */
    GArray *checked; /* struct checked: of each link, then of what is gone */
    struct node_state state;
    struct node_questions *questions;
    const char *unused;  /* ports that are not looked at; "": none */
    enum node_word word; /* the worst of all */
    gint64 begin;        /* monotonic microseconds */
    double seconds;      /* that the run took */
    bool no_means;       /* a privilege or the device is missing */
};

/* Waits the random time of --delay-up-to, at most until *stop. */
void node_delay(const struct options *o, const volatile int *stop);
/* Reads CHOICES (struct choice), and opens what asks the SA, which needs privileges. */
void node_run_begin(struct node_run *n, const struct options *o, const char *version,
                    const GArray *choices, const char *unused);
/* Asks and judges. Returns false if *stop ended it. */
bool node_run_judge(struct node_run *n, const volatile int *stop);
/* Keeps the state for the next run. Returns false and sets ERROR on failure. */
bool node_run_keep(const struct node_run *n, GError **error);
void node_run_end(struct node_run *n);

/* The report in the format of the options. */
GString *node_report(const struct node_run *n, bool colours);
int node_exit_status(const struct node_run *n);
/* The plugin's status instead of another one (--nagios): 0, 1 degraded, 2 fault, 3 unknown. */
int node_nagios_status(const struct node_run *n);

#endif
