/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a live capture's frames come from. Each mode (sniffer, multicast) has its own way of
 * getting them onto a ring of receives; what comes after that, the receiving loop, is the same for
 * all.
 */
#ifndef CAPTURE_FEED_H
#define CAPTURE_FEED_H

#include <stdbool.h>

#include "capture/device.h"
#include "capture/recorder.h"
#include "capture/rxring.h"

struct feed;

struct feed_ops {
    const char *mode; /* as --mode names it */

    /*
     * Whether the device agrees, as far as that can be known before frames come. Returns false
     * after a message.
     */
    bool (*prepare)(struct feed *feed);
    /* From now on frames come. Returns false after a message. */
    bool (*start)(struct feed *feed);
    /* Frames come no more; completions that are there can still be polled. */
    void (*stop)(struct feed *feed);
    /*
     * The queue pair or the completion queue failed: both are made anew. Returns false after a
     * message.
     */
    bool (*restart)(struct feed *feed);
    /*
     * What lies in RX as a frame. NULL: it lies there as on the wire. Returns false if it is none.
     */
    bool (*frame)(struct feed *feed, const struct rx *rx, struct frame *frame);
    /*
     * To be called now and then, and once FD is readable. NULL: there is nothing to do. Returns
     * false after a message if the capture cannot go on.
     */
    bool (*tend)(struct feed *feed);
    /*
     * The port has changed: its LID, P_Keys, SM, state. NULL: that is nothing to it. Returns false
     * if it is to restart.
     */
    bool (*changed)(struct feed *feed);
};

struct feed {
    const struct feed_ops *ops;
    struct rxring *ring;
    int fd;     /* of news that tend takes; -1: none */
    void *self; /* the mode's own */
};

#endif
