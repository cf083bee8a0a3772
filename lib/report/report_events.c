/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The section Events of the text report: what happened on the link. */
#include <inttypes.h>

#include "report/event_lines.h"
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

/* "frame 20: join_refused: 37 ports, 40 events, last in frame 90; the first: LID 2: the SA ..." */
static void add_event_line(GString *out, const struct event_line *line)
{
    const struct link_event *e = line->first;
    char who[SENDER_TEXT_SIZE];
    sender_text(who, &e->who);
    g_string_append_printf(out, "frame %" PRIu32 ": %s: ", e->frame, event_name(e->kind));
    if (line->ports > 1)
        g_string_append_printf(out, "%u ports, ", line->ports);
    if (line->events > 1)
        g_string_append_printf(out,
                               "%u events, last in frame %" PRIu32 "; the first: ", line->events,
                               line->last_frame);
    g_string_append_printf(out, "%s%s%s", who, *who ? ": " : "", e->what);
    put_repetitions(out, e);
    g_string_append_c(out, '\n');
}

static void add_all_events(GString *out, const struct event_table *events, const char *indent)
{
    for (unsigned i = 0; i < event_table_count(events); i++) {
        const struct link_event *e = event_table_at(events, i);
        const struct event_line line = {e, 1, 1, e->last_frame};
        g_string_append(out, indent);
        add_event_line(out, &line);
    }
}

enum event_kind report_add_events(GString *out, const struct event_table *events,
                                  const char *indent, const char *where_all)
{
    GArray *lines = event_lines(events);
    unsigned n = event_table_count(events);
    for (unsigned i = 0; i < lines->len; i++) {
        g_string_append(out, indent);
        add_event_line(out, &g_array_index(lines, struct event_line, i));
    }
    if (lines->len < n)
        g_string_append_printf(out, "  %u events on %u line%s: %s\n", n, lines->len,
                               lines->len == 1 ? "" : "s", where_all);
    enum event_kind first = g_array_index(lines, struct event_line, 0).first->kind;
    g_array_unref(lines);
    return first;
}

void text_put_events(const struct text *t)
{
    const struct event_table *events = t->checked->events;
    if (event_table_count(events) == 0)
        return;
    enum event_kind first = event_table_at(events, 0)->kind;
    g_string_append_c(t->out, '\n');
    text_put_coloured(t, BOLD, "Events: what happened on the link (notes, no violations)");
    g_string_append_c(t->out, '\n');
    if (t->report->verbose)
        add_all_events(t->out, events, "  ");
    else
        first = report_add_events(t->out, events, "  ", "ipoib-check -v lists all");
    g_string_append_printf(t->out, "  more: ipoib-check --explain %s\n", event_name(first));
}

void text_put_events_count(const struct text *t)
{
    unsigned n = event_table_count(t->checked->events);
    if (n)
        g_string_append_printf(t->out, ", %u event%s", n, n == 1 ? "" : "s");
}

enum { NAMES = 3 };

/* "join_refused, trap, ...": the kinds of the first lines. */
static void put_names(GString *out, const GArray *lines)
{
    bool named[EVENT_KINDS] = {false};
    unsigned n = 0;
    for (unsigned i = 0; i < lines->len; i++) {
        enum event_kind kind = g_array_index(lines, struct event_line, i).first->kind;
        if (named[kind])
            continue;
        named[kind] = true;
        if (n)
            g_string_append(out, ", ");
        g_string_append(out, n < NAMES ? event_name(kind) : "...");
        if (n++ == NAMES)
            return;
    }
}

void text_put_events_names(const struct text *t)
{
    const struct event_table *events = t->checked->events;
    unsigned n = event_table_count(events);
    if (!n)
        return;
    GArray *lines = event_lines(events);
    bool is_change = event_rank(g_array_index(lines, struct event_line, 0).first) == RANK_CHANGE;
    g_string_append_printf(t->out, ", %s %u event%s (", is_change ? "with" : "but", n,
                           n == 1 ? "" : "s");
    put_names(t->out, lines);
    g_string_append_c(t->out, ')');
    g_array_unref(lines);
}
