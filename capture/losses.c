/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports why frames were lost. See losses.h. */
#include "capture/losses.h"

#include <inttypes.h>

#include "cli/say.h"

/* Reports frames lost because the program had no memory left. */
static void report_own_losses(uint64_t own, const struct ending *end)
{
    if (own == 0)
        return;
    if (end->stalled)
        say("%" PRIu64 " frames were lost because the reader of the pipe does not read", own);
    else if (end->pipe)
        say("%" PRIu64
            " frames were lost because the reader of the pipe is too slow: use more memory (-p), a faster reader, or a file "
            "(-w)",
            own);
    else
        say("%" PRIu64
            " frames were lost because the file is written too slowly: use more memory (-p), a faster disk, or "
            "memory mode (-M)",
            own);
}

/*
 * Reports frames lost by the device. FAILED: the device has failed, or the queue pair was replaced;
 * more buffers do not help then.
 */
static void report_device_losses(uint64_t lost, bool failed)
{
    if (lost > 0 && failed)
        say("%" PRIu64 " frames were lost by the device", lost);
    else if (lost > 0)
        say("%" PRIu64 " frames were lost by the device, which had no buffer left: use more (-b)",
            lost);
}

void losses_report(const struct receiver *r, struct recorder_counts counts, uint64_t unwritten,
                   const struct ending *end)
{
    report_device_losses(counts.device - r->failures, r->restarts > 0 || r->failed);
    if (r->failures > 0)
        say("%" PRIu64 " frames could not be delivered by the device", r->failures);
    if (r->too_long > 0)
        say("%" PRIu64 " of them were longer than a buffer: use buffers of 16 KiB (-j)",
            r->too_long);
    report_own_losses(counts.own, end);
    if (unwritten > 0 && !end->left)
        say("%" PRIu64 " frames were received but not written: they are lost", unwritten);
    if (r->restarts > 0)
        say("the queue pair failed %u time%s: an unknown number of frames is missing", r->restarts,
            r->restarts == 1 ? "" : "s");
}
