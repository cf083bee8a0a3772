/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source of a live capture: a port of a device, in one of its modes, or another program. */
#ifndef CAPTURE_LIVE_SOURCE_H
#define CAPTURE_LIVE_SOURCE_H

#include <glib.h>
#include <stdbool.h>

#include "capture/firmware/firmware.h"
#include "capture/live_options.h"
#include "capture/multicast/multicast.h"
#include "capture/receive/sniffer.h"
#include "capture/stream/stream.h"
#include "hca/device.h"

/* Initialise to 0. */
struct live_source {
    const struct live_options *options;
    struct device_list list;
    struct device device;
    struct sniffer sniffer; /* one of these, depending on the mode and the sniffer */
    struct firmware firmware;
    struct multicast multicast;
    struct input_stream *stream; /* NULL: none */
    struct feed feed;
    char name[64]; /* of the device or the stream */
};

/*
 * Opens the source that the options name. Of a stream, it drops the privileges before it reads.
 * Returns false and sets ERROR if it cannot be captured from.
 */
bool live_source_open(struct live_source *source, const struct live_options *options,
                      GError **error);

/* Stops and frees the feed. This can print messages and wait for the keeper. */
void live_source_end_feed(struct live_source *source);

/* Frees everything, also after live_source_open() has failed. */
void live_source_close(struct live_source *source);

#endif
