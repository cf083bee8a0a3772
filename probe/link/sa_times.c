/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See sa_times.h. */
#include "probe/link/sa_times.h"

#include "probe/run/results.h"
#include "probe/run/times.h"

void sa_times_keep(struct target *t)
{
    const struct sa_cache *sa = &t->run->sa;
    t->results->checked->sa_times = results_times(&sa->times);
    t->results->checked->sa_unanswered = sa->unanswered;
    t->results->checked->sa_busy = sa->busy;
}

char *sa_times_text(const struct run *r)
{
    const struct sa_cache *sa = &r->sa;
    if (!sa->times.n && !sa->unanswered && !sa->busy)
        return NULL;
    GString *text = g_string_new("the SA: ");
    char *times = times_text(&sa->times);
    if (sa->times.n)
        g_string_append_printf(text, "%" G_GUINT64_FORMAT " answers in %s", sa->times.n, times);
    else
        g_string_append(text, "no answer");
    if (sa->busy)
        g_string_append_printf(text, ", %" G_GUINT64_FORMAT " times busy", sa->busy);
    if (sa->unanswered)
        g_string_append_printf(text, ", %" G_GUINT64_FORMAT " requests without an answer",
                               sa->unanswered);
    g_free(times);
    return g_string_free(text, FALSE);
}
