/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports why frames of a live capture were lost. */
#ifndef CAPTURE_LOSSES_H
#define CAPTURE_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/receive/receive.h"
#include "capture/write/recorder.h"

/* State of the output when it is closed. */
struct ending {
    bool pipe;    /* the output is a pipe or similar */
    bool left;    /* the reader closed the pipe, which is the normal end */
    bool stalled; /* the reader did not read */
};

/* Prints a message for each reason. UNWRITTEN: frames that were recorded but not written. */
void losses_report(const struct receiver *r, struct recorder_counts counts, uint64_t unwritten,
                   const struct ending *end);

#endif
