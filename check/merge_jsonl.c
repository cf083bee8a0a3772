/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merged reports as JSON Lines (report/report_jsonl.h). */
#include "check/merge_json.h"
#include "report/report_jsonl.h"
#include "report/words.h"

static void put_line(struct report_merge *m, const char *type, json_t *members)
{
    const struct report r = {.tool = m->tool, .version = m->version};
    GString *line = g_string_new(NULL);
    report_jsonl_line(line, &r, type, members);
    fwrite(line->str, 1, line->len, m->spool);
    g_string_free(line, TRUE);
}

/* Takes the objects of a list out of the entry, each to a line of its own, as report_jsonl.c does.
 */
static void put_list(struct report_merge *m, const char *type, json_t *entry, const char *list,
                     const char *kind)
{
    json_t *one;
    size_t i;
    json_array_foreach(json_object_get(entry, list), i, one)
    {
        json_t *members = json_copy(one);
        json_object_set(members, kind, json_object_get(entry, "name"));
        json_object_set(members, "node", json_object_get(entry, "node"));
        json_object_set(members, "file", json_object_get(entry, "file"));
        put_line(m, type, members);
    }
    json_object_del(entry, list);
}

static void merged_jsonl(struct report_merge *m, const struct restored *r,
                         const struct merge_entry *e, const char *node, const char *file)
{
    const char *kind = r->report.probed ? "target" : "capture";
    for (guint i = 0; e && i < e->results->len; i++)
        put_line(m, "result", merge_json_result(e->results->pdata[i], node, file));
    json_t *entry = merge_json_entry(r, e, node, file);
    put_list(m, "event", entry, "events", kind);
    put_list(m, "host", entry, "hosts", kind);
    put_line(m, kind, entry);
}

static void jsonl_end(struct report_merge *m)
{
    const struct merge_tally *t = m->tally;
    json_t *one;
    size_t n;
    for (guint i = 0; i < t->nodes->len; i++)
        put_line(m, "node", merge_json_node(t->nodes->pdata[i]));
    for (guint i = 0; i < t->items->len; i++)
        for (size_t k = 0; k < VERDICT_OUTCOMES; k++)
            if (tally_nodes_with(t, i, outcomes_in_order[k]))
                put_line(m, "rule", merge_json_item(t, i, (enum outcome)outcomes_in_order[k]));
    json_array_foreach(t->required, n, one) put_line(m, "required", json_copy(one));
    put_line(m, "summary", merge_json_totals(t));
}

const struct merge_writer merge_writer_jsonl = {merged_jsonl, jsonl_end};
