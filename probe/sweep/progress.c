/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows the progress of a sweep on a terminal. See progress.h. */
#include "probe/sweep/progress.h"

#include "cli/progress.h"
#include "probe/sweep/parts.h"

enum { SHOW_EVERY_US = 200000 };

void sweep_show(struct sweep *s)
{
    gint64 now = g_get_monotonic_time();
    if (!s->shown || now < s->shown)
        return;
    progress_line("%u of %u addresses done, %u being checked", s->done, s->all,
                  s->active->len + s->queue->length);
    s->shown = now + SHOW_EVERY_US;
}
