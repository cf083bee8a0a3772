/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The section Events of the text report: what happened on the link, in capture order. */
#include <inttypes.h>

#include "analysis/event_table.h"
#include "report/report_events.h"
#include "report/report_text.h"
#include "report/words.h"

/* "(4 times, last in frame 26; see frame 19)" */
static void put_repetitions(GString *out, const struct link_event *e)
{
    if (e->count == 1 && !e->cause_frame)
        return;
    g_string_append(out, " (");
    if (e->count > 1) {
        words_add_times(out, e->count);
        g_string_append_printf(out, ", last in frame %" PRIu32 "%s", e->last_frame,
                               e->cause_frame ? "; " : "");
    }
    if (e->cause_frame)
        g_string_append_printf(out, "see frame %" PRIu32, e->cause_frame);
    g_string_append_c(out, ')');
}

void add_event_line(GString *out, const struct link_event *e)
{
    char who[SENDER_TEXT_SIZE];
    sender_text(who, &e->who);
    g_string_append_printf(out, "  frame %" PRIu32 ": %s: %s%s%s", e->frame, event_name(e->kind),
                           who, *who ? ": " : "", e->what);
    put_repetitions(out, e);
    g_string_append_c(out, '\n');
}

void text_put_events(const struct text *t)
{
    unsigned n = event_table_count(t->checked->events),
             shown = t->report->verbose ? n : MIN(n, EVENTS_SHOWN);
    if (n == 0)
        return;
    g_string_append_c(t->out, '\n');
    text_put_coloured(t, BOLD, "Events: what happened on the link (notes, no violations)");
    g_string_append_c(t->out, '\n');
    for (unsigned i = 0; i < shown; i++)
        add_event_line(t->out, event_table_at(t->checked->events, i));
    if (shown < n)
        g_string_append_printf(t->out, "  and %u more: ipoib-check -v lists all\n", n - shown);
    g_string_append_printf(t->out, "  more: ipoib-check --explain %s\n",
                           event_name(event_table_at(t->checked->events, 0)->kind));
}

void text_put_events_count(const struct text *t)
{
    unsigned n = event_table_count(t->checked->events);
    if (n)
        g_string_append_printf(t->out, ", %u event%s", n, n == 1 ? "" : "s");
}
