/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture that another program writes, as the source of a live capture: from a pipe or file (-r),
 * or from ibdump as a child process. A thread reads it. The frames wait in a ring of slots; if it
 * is full, the thread does not read, so the other program waits. Frames are truncated to 65535
 * bytes, the snapshot length of a capture, so the ring has at most 256 MiB.
 */
#ifndef CAPTURE_STREAM_H
#define CAPTURE_STREAM_H

#include <glib.h>
#include <stdbool.h>

#include "capture/receive/feed.h"
#include "capture/stream/ibdump.h"

struct input_stream;

/*
 * Reads PATH ("-": standard input) and waits for the first frame. Returns NULL and sets ERROR if
 * there is none because it cannot be read. Drop the privileges before.
 */
struct input_stream *stream_open(const char *path, GError **error);

/* The same from ibdump, which the stream ends. */
struct input_stream *stream_open_ibdump(struct ibdump *ibdump, GError **error);

/*
 * The link type of the frames: that of the first one, without ERF headers; at most 65535. Frames of
 * another link type are left out, which is reported at the end.
 */
uint32_t stream_linktype(const struct input_stream *stream);

/*
 * DEVICE: has the link layer of the frames, and no context. Returns the feed for the receive loop.
 */
struct feed stream_feed(struct input_stream *stream, struct device *device);

/* NULL does nothing. */
void stream_close(struct input_stream *stream);

#endif
