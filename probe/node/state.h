/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the target node keeps between two runs: the counters, and which interfaces and devices there
 * were. The file is in a private folder in /run, which a reboot empties. Times are those since the
 * boot (CLOCK_BOOTTIME): a clock that jumps does not change them.
 */
#ifndef IPOIB_PROBE_NODE_STATE_H
#define IPOIB_PROBE_NODE_STATE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "probe/link/counters.h"

/* An interface and its port, or a port without an interface, in a run. */
struct node_memory {
    char interface[32], device[64]; /* "": none */
    unsigned port;
    uint16_t pkey;
    bool asked;   /* the port's query was about this interface */
    bool at_odds; /* the SA's last answer about it was a fault */
    bool waited;  /* it waited to join groups */
    struct port_counters counters;
};

struct node_state {
    int folder;               /* open and locked; -1: nothing can be kept */
    bool usable;              /* it is of an earlier run since the boot, and is compared */
    char why[240];            /* why it is not usable, or cannot be kept; "": no reason */
    char boot[40];            /* identifies the boot */
    int64_t boot_us, wall_us; /* time of the earlier run */
    int64_t now_us, now_wall_us;
    GArray *links; /* struct node_memory of the earlier run; empty if it is not usable */
};

/* Opens the folder, locks it and reads the state. PATH NULL: the default one of this user. */
void node_state_open(struct node_state *s, const char *path);
/* Writes LINKS (struct node_memory) for the next run. Returns false and sets ERROR on failure. */
bool node_state_save(const struct node_state *s, const GArray *links, GError **error);
/* Unlocks the folder: the next run need not wait for the reader of this run's report. */
void node_state_release(struct node_state *s);
void node_state_close(struct node_state *s);

/* The interface, or the port without one, in the earlier run; NULL: it was not there. */
const struct node_memory *node_state_find(const struct node_state *s, const char *interface,
                                          const char *device, unsigned port);
/* Seconds since the earlier run. */
double node_state_age(const struct node_state *s);
/* By how many seconds the wall clock was set since then; 0: by less than two. */
double node_state_jump(const struct node_state *s);

/* The contents of the file. node_state_parse() returns false and sets why if it is damaged. */
GString *node_state_text(const struct node_state *s, const GArray *links);
bool node_state_parse(struct node_state *s, const char *text);

#endif
