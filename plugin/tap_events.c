/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -z ipoib,events: what happened on the link, in capture order (analysis/event.h). */
#include "plugin/events.h"
#include "plugin/protocol.h"
#include "plugin/tap.h"

#include "analysis/event_table.h"

static void add_event_row(struct rows *rows, const struct link_event *e)
{
    char who[SENDER_TEXT_SIZE];
    cell_number(rows, e->frame);
    cell_text(rows, "%s", event_name(e->kind));
    cell_number(rows, e->count);
    cell_frame(rows, e->count > 1 ? e->last_frame : 0);
    cell_frame(rows, e->cause_frame);
    cell_text(rows, "%s", sender_text(who, &e->who));
    cell_text(rows, "%s", e->what);
}

static void fill_events(struct rows *rows)
{
    const struct event_table *events = events_of_file();
    for (unsigned i = 0; i < event_table_count(events); i++)
        add_event_row(rows, event_table_at(events, i));
}

void tap_events_register(void)
{
    static const struct column columns[] = {
        {.name = "Frame", .number = true},
        {.name = "Event"},
        {.name = "Count", .number = true},
        {.name = "Last frame", .digits = true},
        {.name = "Explained by", .digits = true},
        {.name = "Who"},
        {.name = "What"},
    };
    static const struct tap_table events = {"ipoib,events",
                                            "IPoIB Events",
                                            "no event was found",
                                            columns,
                                            array_length(columns),
                                            fill_events,
                                            NULL,
                                            NULL};
    table_register(&events);
}
