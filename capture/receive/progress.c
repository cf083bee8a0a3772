/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Progress output. See progress.h. Scripts wait for these lines, so they are the same as ibdump's.
 */
#include "capture/receive/progress.h"

#include <inttypes.h>

#include "capture/write/stop.h"
#include "cli/progress.h"

void progress_begin(const struct progress *p, const char *name, const struct device *device,
                    const char *file, uint32_t buffers)
{
    if (p->silent)
        return;
    progress_append(" ------------------------------------------------\n"
                    " Device                         : \"%s\"\n"
                    " Physical port                  : %u\n"
                    " Link layer                     : %s\n"
                    " Dump file                      : %s\n"
                    " Sniffer WQEs (max burst size)  : %" PRIu32 "\n"
                    " ------------------------------------------------\n"
                    "\n"
                    "\n"
                    "Ready to capture (Press ^c to stop):\n",
                    name, device->port, device_is_ethernet(device) ? "Ethernet" : "Infiniband",
                    file, buffers);
}

void progress_show(struct progress *p, struct recorder_counts counts, uint64_t now)
{
    uint64_t lost = counts.device + counts.own;

    if (p->silent || now < p->shown + 1000000000 ||
        (counts.packets == p->packets && lost == p->lost))
        return;
    progress_append("\rCaptured:  %8" PRIu64 " packets, %8" PRIu64, counts.packets, counts.bytes);
    if (p->memory)
        progress_append("/%" PRIu64, p->memory);
    progress_append(" bytes     ");
    if (lost > 0)
        progress_append("(%" PRIu64 " lost)     ", lost);
    p->shown = now;
    p->packets = counts.packets;
    p->lost = lost;
}

void progress_end(struct progress *p, bool full)
{
    if (p->silent)
        return;
    if (stop_signal())
        progress_append("\n\nInterrupted (signal %d) - exiting ...\n", stop_signal());
    progress_append("\n%s", full ? "Buffer full ...\n" : "");
}
