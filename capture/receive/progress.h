/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress of a capture on standard output, in ibdump's format. */
#ifndef CAPTURE_PROGRESS_H
#define CAPTURE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "hca/device.h"
#include "capture/write/recorder.h"

struct progress {
    bool silent;
    uint64_t memory; /* size of -M in bytes, or 0 */

    /* private */
    uint64_t shown;         /* time of the last line, CLOCK_MONOTONIC in ns */
    uint64_t packets, lost; /* counts in the last line */
};

/* Prints what will be captured, unless P is silent. NAME: of the device. BUFFERS: number of posted
 * receives. */
void progress_begin(const struct progress *p, const char *name, const struct device *device,
                    const char *file, uint32_t buffers);

/*
 * Prints the line of counts, at most once a second and only if it changed. NOW: CLOCK_MONOTONIC in
 * ns.
 */
void progress_show(struct progress *p, struct recorder_counts counts, uint64_t now);

/* Prints the end of the capture. FULL: the memory of -M is full. */
void progress_end(struct progress *p, bool full);

#endif
