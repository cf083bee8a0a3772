/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A device's own count of what it lost for want of posted receives. */
#ifndef CAPTURE_DROPCOUNT_H
#define CAPTURE_DROPCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/device.h"

struct dropcount {
    int fd; /* of sysfs's hw_counters/out_of_buffer; -1: the device has none */
    uint64_t last;
};

/* Begins to count. Returns false if the device has no such counter. */
bool dropcount_open(struct dropcount *d, const struct device *device);
void dropcount_close(struct dropcount *d);

/* How many frames the device lost since the call before. */
uint64_t dropcount_more(struct dropcount *d);

#endif
