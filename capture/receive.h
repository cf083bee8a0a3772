/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receiving loop: from the device's completions to the recorder, until something ends the
 * capture.
 */
#ifndef CAPTURE_RECEIVE_H
#define CAPTURE_RECEIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/dropcount.h"
#include "capture/feed.h"
#include "capture/live_options.h"
#include "capture/progress.h"
#include "capture/recorder.h"
#include "capture/selection.h"

struct receiver {
    const struct live_options *options;
    struct device *device;
    struct feed *feed;
    struct dropcount *dropcount;
    struct recorder *recorder;
    struct selection *selection; /* --only; NULL: all frames are wanted */
    struct progress *progress;
    bool live;         /* the reader of a pipe waits for each packet */
    int reader;        /* the pipe that is written to, for poll(); -1: none */
    bool reader_left;  /* it was closed, which ends the capture */
    bool failed;       /* the capture ended by an error, which was told */
    unsigned restarts; /* of the queue pair: frames may have been missed there */
    uint64_t failures; /* completions that failed, a frame lost by each */
    uint64_t too_long; /* of these, those of frames longer than a buffer */

    /* the loop's own */
    uint64_t recorded;  /* packets, for --count */
    uint64_t end;       /* CLOCK_MONOTONIC in ns; 0: none */
    uint64_t next_look; /* CLOCK_MONOTONIC in ns: when the clock's affairs are looked after */
    bool as_received;   /* frames go to the recorder as they are in the buffers */
    unsigned batches;   /* so far */
    unsigned busy;      /* naps left before it sleeps until an event */
    bool broken;        /* the queue pair is in its error state */
};

/* Runs until the capture ends. The frames that had come by then are recorded too. */
void receive(struct receiver *r);

#endif
