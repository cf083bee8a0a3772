/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a capture shows while it runs, on standard output, as ibdump does. */
#ifndef CAPTURE_PROGRESS_H
#define CAPTURE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/device.h"
#include "capture/live_options.h"
#include "capture/recorder.h"

struct progress {
    bool silent;
    uint64_t memory;        /* of -M, or 0 */
    uint64_t shown;         /* when, CLOCK_MONOTONIC in ns */
    uint64_t packets, lost; /* that were shown */
};

/* What is going to be captured. */
void progress_begin(struct progress *p, const struct live_options *options,
                    const struct device *device, uint32_t buffers);

/* The line of counts, once a second if it changed. NOW: CLOCK_MONOTONIC in ns. */
void progress_show(struct progress *p, struct recorder_counts counts, uint64_t now);

/* The capture has ended, because the memory of -M is full if FULL. */
void progress_end(struct progress *p, bool full);

#endif
