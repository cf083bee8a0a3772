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
#include "capture/receive/devevent.h"
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
     * How frames come, in batches of rx that stay valid until REPOST. POLL returns their number, or
     * -1 if it fails; REPOST 0, or an errno value if nothing more can be received. ARM: frames_fd
     * becomes readable with the next frame. EVENT returns the next event of the device.
     */
    int (*poll)(struct feed *feed, struct rx out[RX_BATCH]);
    int (*repost)(struct feed *feed);
    void (*arm)(struct feed *feed);
    enum devevent (*event)(struct feed *feed);

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
    const char *name; /* of the device, in messages */
    struct device *device;
    struct rxring *ring; /* NULL: the frames come from elsewhere */
    uint32_t entries;    /* frames that can wait, at most */
    int frames_fd;       /* see ops->arm */
    int event_fd;        /* readable when there is an event; -1: never */
    int fd;              /* readable when there is work for tend; -1: none */
    bool is_started;
    bool has_failed; /* STOP or the source failed; the reason was printed */
    void *self;      /* private data of the mode */
};

/* The operations of a feed with a ring. */
#define FEED_OF_RING                                                                               \
    .poll = feed_ring_poll, .repost = feed_ring_repost, .arm = feed_ring_arm,                      \
    .event = feed_ring_event

int feed_ring_poll(struct feed *feed, struct rx out[RX_BATCH]);
int feed_ring_repost(struct feed *feed);
void feed_ring_arm(struct feed *feed);
enum devevent feed_ring_event(struct feed *feed);

/* A feed whose frames come into the ring of a device. */
struct feed feed_of_ring(const struct feed_ops *ops, struct device *device, struct rxring *ring,
                         void *self);

#endif
