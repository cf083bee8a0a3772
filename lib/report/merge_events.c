/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restores the events of a capture from its JSON report. */
#include "report/merge_events.h"

#include "report/merge_read.h"

static bool number_up_to(uint64_t *n, const json_t *event, const char *key, uint64_t most)
{
    const json_t *value = json_object_get(event, key);
    *n = (uint64_t)json_integer_value(value);
    return json_is_integer(value) && json_integer_value(value) >= 0 && *n <= most;
}

static bool read_numbers(struct link_event *e, const json_t *given)
{
    uint64_t frame, last, cause;
    bool good = number_up_to(&e->count, given, "count", INT64_MAX) && e->count > 0 &&
                number_up_to(&frame, given, "frame", UINT32_MAX) &&
                number_up_to(&last, given, "last_frame", UINT32_MAX) &&
                number_up_to(&cause, given, "cause_frame", UINT32_MAX) &&
                json_is_integer(json_object_get(given, "time_ns"));
    if (!good)
        return false;
    e->frame = (uint32_t)frame;
    e->last_frame = (uint32_t)last;
    e->cause_frame = (uint32_t)cause;
    e->ns = json_integer_value(json_object_get(given, "time_ns"));
    return true;
}

/* A report has who it happened to only as text. */
static bool read_event(struct event_table *t, const json_t *given, uint64_t number)
{
    const char *name = merge_string(given, "name"), *who = merge_string(given, "who"),
               *what = merge_string(given, "what");
    enum event_kind kind = name ? event_find(name) : EVENT_KINDS;
    const struct event_key key = {.kind = kind, .number = number};
    if (kind == EVENT_KINDS || !who || !what)
        return false;
    struct link_event *e = event_table_add(t, &key);
    if (!e || !read_numbers(e, given))
        return false;
    e->what = g_strdup_printf("%s%s%s", who, *who ? ": " : "", what);
    return true;
}

struct event_table *merge_events(const json_t *list)
{
    json_t *one;
    size_t i;
    if (!list)
        return NULL;
    struct event_table *t = event_table_new(NULL);
    json_array_foreach(list, i, one)
    {
        if (read_event(t, one, i))
            continue;
        event_table_free(t);
        return NULL;
    }
    return t;
}
