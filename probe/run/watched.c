/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a watched peer has shown so far. See watched.h. */
#include "probe/run/watched.h"

enum { FIRST_BOUND_US = 50, US_PER_MS = 1000 };

const char *watch_change_name(enum watch_change change)
{
    static const char *const names[] = {
        [CHANGE_SILENT] = "silent",     [CHANGE_REPLIES_AGAIN] = "replies-again",
        [CHANGE_MOVED] = "moved",       [CHANGE_SECOND_PORT] = "second-port",
        [CHANGE_OWN_PORT] = "own-port", [CHANGE_OWN_INTERFACE] = "own-interface",
        [CHANGE_COUNTERS] = "counters"};
    return names[change];
}

gint64 watch_bound(unsigned i)
{
    return (gint64)FIRST_BOUND_US << i;
}

void watched_reply(struct watched *w, double ms)
{
    gint64 us = (gint64)(ms * US_PER_MS + 0.5);
    w->replies = true;
    w->answered++;
    w->microseconds += us;
    for (unsigned i = 0; i < WATCH_BUCKETS; i++)
        if (us <= watch_bound(i)) {
            w->within[i]++;
            break;
        }
}

void watched_no_reply(struct watched *w)
{
    w->replies = false;
}
