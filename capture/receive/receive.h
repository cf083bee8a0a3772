/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receive loop: passes frames from the device's completions to the recorder until the capture ends.
 */
#ifndef CAPTURE_RECEIVE_H
#define CAPTURE_RECEIVE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/receive/dropcount.h"
#include "capture/receive/feed.h"
#include "capture/receive/progress.h"
#include "capture/write/recorder.h"
#include "capture/receive/selection.h"

/* What to record, and when to stop. */
struct receive_plan {
    bool decap;               /* remove a mirroring switch's headers */
    bool with_direction;      /* the file has a field for each frame's direction */
    bool in_memory;           /* -M: the capture ends when the memory is full */
    uint64_t count, duration; /* packets; nanoseconds; 0: no limit */
};

struct receiver {
    struct receive_plan plan;
    struct device *device;
    struct feed *feed;
    struct dropcount *dropcount;
    struct recorder *recorder;
    struct packet_selection *selection; /* NULL: all frames are recorded */
    struct progress *progress;
    bool live;         /* the output is a pipe or similar: records are passed on within 5 ms */
    int reader;        /* the pipe that is written to, for poll(); -1: none */
    bool reader_left;  /* the reader closed the pipe, which ends the capture */
    bool failed;       /* the capture ended with an error */
    GError *error;     /* of this end, for the caller to report and free; NULL: none */
    unsigned restarts; /* replacements of the queue pair; frames may be lost during each */
    uint64_t failures; /* failed completions; each is one lost frame */
    uint64_t too_long; /* of these: frames longer than a buffer */

    /* private to the loop */
    uint64_t recorded;      /* packets recorded, for --count */
    uint64_t end;           /* end by --duration, CLOCK_MONOTONIC in ns; 0: none */
    uint64_t next_periodic; /* next periodic work, CLOCK_MONOTONIC in ns */
    bool as_received;       /* frames are recorded as they are in the buffers */
    unsigned batches;       /* completion batches so far */
    unsigned busy;          /* naps left before the loop sleeps until an event */
    bool broken;            /* the queue pair is in the error state or must be replaced */
};

/* Runs until the capture ends, then records the frames already received. */
void receive(struct receiver *r);

#endif
