/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Device counter of frames dropped because no receive buffer was posted (out_of_buffer). */
#ifndef CAPTURE_DROPCOUNT_H
#define CAPTURE_DROPCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "hca/device.h"

struct dropcount {
    int fd; /* of hw_counters/out_of_buffer in sysfs; -1: the device has no such counter */
    uint64_t last;
};

/* Opens the counter and reads its start value. Returns false if the device has no such counter. */
bool dropcount_open(struct dropcount *d, const struct device *device);
/* Closes the counter. Does nothing if it is closed. */
void dropcount_close(struct dropcount *d);

/* Returns the number of frames that the device dropped since the previous call. */
uint64_t dropcount_more(struct dropcount *d);

#endif
