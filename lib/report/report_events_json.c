/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report_events.h"

static json_t *json_event(const struct link_event *e)
{
    char who[SENDER_TEXT_SIZE];
    return json_pack("{ss ss ss ss sI sI sI sI sI}", "name", event_name(e->kind), "title",
                     event_title(e->kind), "who", sender_text(who, &e->who), "what", e->what,
                     "count", (json_int_t)e->count, "frame", (json_int_t)e->frame, "last_frame",
                     (json_int_t)e->last_frame, "cause_frame", (json_int_t)e->cause_frame,
                     "time_ns", (json_int_t)e->ns);
}

json_t *json_events(const struct event_table *events)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < event_table_count(events); i++)
        json_array_append_new(list, json_event(event_table_at(events, i)));
    return list;
}
