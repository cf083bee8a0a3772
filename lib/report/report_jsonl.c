/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report as JSON Lines. See report_jsonl.h. */
#include "report/report_jsonl.h"

#include <stdlib.h>

#include "report/report_json.h"

/* RFC 3339, with milliseconds. */
static json_t *json_now(void)
{
    GDateTime *now = g_date_time_new_now_utc();
    char *seconds = g_date_time_format(now, "%Y-%m-%dT%H:%M:%S"),
         *text = g_strdup_printf("%s.%03dZ", seconds, g_date_time_get_microsecond(now) / 1000);
    json_t *time = json_string(text);
    g_free(text);
    g_free(seconds);
    g_date_time_unref(now);
    return time;
}

/* A capture gives the same report at any time. */
void report_jsonl_line(GString *out, const struct report *r, const char *type, json_t *members)
{
    json_t *line = json_pack("{ss so* ss ss ss*}", "type", type, "time",
                             r->probed ? json_now() : NULL, "tool", r->tool, "version", r->version,
                             "node", r->node);
    json_object_update_missing(line, members);
    char *text = json_dumps(line, JSON_COMPACT);
    g_string_append_printf(out, "%s\n", text);
    free(text);
    json_decref(line);
    json_decref(members);
}

/* Each object of a list of the entry in a line of its own, which names the capture or target. */
static void put_list(GString *out, const struct report *r, const char *type, json_t *entry,
                     const char *list)
{
    json_t *one;
    size_t i;
    json_array_foreach(json_object_get(entry, list), i, one)
    {
        json_t *members = json_copy(one);
        json_object_set(members, r->probed ? "target" : "capture", json_object_get(entry, "name"));
        report_jsonl_line(out, r, type, members);
    }
    json_object_del(entry, list);
}

static GString *jsonl_part(const struct report *r, const struct checked *j,
                           struct written_so_far *written)
{
    GString *out = g_string_new(NULL);
    json_t *results = report_json_results(r, j), *capture = report_json_capture(r, j), *result;
    size_t i;
    json_array_foreach(results, i, result) report_jsonl_line(out, r, "result", json_copy(result));
    put_list(out, r, "event", capture, "events");
    put_list(out, r, "host", capture, "hosts");
    report_jsonl_line(out, r, r->probed ? "target" : "capture", capture);
    written->captures++;
    json_decref(results);
    return out;
}

/* The lines of the parts may be printed before the totals are known. */
static GString *jsonl_head(const struct report *r, const struct written_so_far *written)
{
    (void)r;
    (void)written;
    return g_string_new(NULL);
}

static GString *jsonl_tail(const struct report *r)
{
    GString *out = g_string_new(NULL);
    report_jsonl_line(out, r, "summary", report_json_totals(r));
    return out;
}

const struct report_parts report_parts_jsonl = {jsonl_head, jsonl_part, jsonl_tail};
