/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source of the frames of a live capture. Each mode (sniffer, multicast) fills a receive ring in
 * its own way; the receive loop after that is the same for all modes.
 */
#ifndef CAPTURE_FEED_H
#define CAPTURE_FEED_H

#include <glib.h>
#include <stdbool.h>

#include "hca/device.h"
#include "capture/write/recorder.h"
#include "capture/receive/rxring.h"

struct feed;

struct feed_ops {
    const char *mode; /* name of the mode, as in --mode */
    /*
     * Only START shows whether the device accepts the capture, so it comes before a file is
     * overwritten.
     */
    bool accepts_at_start;

    /*
     * Checks, before frames arrive, whether the device supports the mode. Returns false and
     * sets ERROR if not.
     */
    bool (*prepare)(struct feed *feed, GError **error);
    /* Starts the delivery of frames. Returns false and sets ERROR if that fails. */
    bool (*start)(struct feed *feed, GError **error);
    /*
     * Stops the delivery of frames. Completions that are already in the queue can still be polled.
     */
    void (*stop)(struct feed *feed);
    /*
     * The queue pair or the completion queue failed: replaces both. Returns false and
     * sets ERROR if that fails.
     */
    bool (*restart)(struct feed *feed, GError **error);
    /*
     * Changes FRAME, a copy of the frame in RX, to what was on the wire. NULL: it already is.
     * Returns false if RX contains no frame.
     */
    bool (*frame)(struct feed *feed, const struct rx *rx, struct recorded_frame *frame);
    /*
     * Periodic work; called at regular intervals and when FD is readable. NULL: there is none.
     * Returns false and sets ERROR if the capture cannot continue.
     */
    bool (*tend)(struct feed *feed, GError **error);
    /*
     * The LID, the P_Key table, the SM or the state of the port changed. NULL: the mode does not
     * depend on them. Returns false if the feed must be restarted.
     */
    bool (*changed)(struct feed *feed);
};

struct feed {
    const struct feed_ops *ops;
    struct rxring *ring;
    int fd; /* readable when there is work for tend; -1: none */
    bool is_started;
    bool is_left; /* STOP could not undo what START has done; the reason was printed */
    void *self;   /* private data of the mode */
};

#endif
