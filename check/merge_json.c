/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merged reports as JSON: the original results, each with its node and file; doc/reports.md
 * describes the summary.
 */
#include <stdlib.h>

#include "check/merge_json.h"
#include "report/words.h"

enum { CAPTURES, TARGETS };

/* Writes a value, indented; a comma before all but the first. */
static void put_value(FILE *to, const json_t *value, const char *indent, unsigned *before)
{
    char *text = json_dumps(value, JSON_INDENT(1));
    fprintf(to, "%s\n%s", (*before)++ ? "," : "", indent);
    for (const char *c = text; *c; c++) {
        fputc(*c, to);
        if (*c == '\n') /* JSON strings contain no line end */
            fputs(indent, to);
    }
    free(text);
}

/* ---- a capture or target */

static void put_begin(struct report_merge *m)
{
    json_t *tool = json_string(m->tool), *version = json_string(m->version);
    char *tool_text = json_dumps(tool, JSON_ENCODE_ANY),
         *version_text = json_dumps(version, JSON_ENCODE_ANY);
    fprintf(
        m->spool,
        "{\n \"tool\": %s,\n \"version\": %s,\n \"subject\": \"merged reports\",\n \"results\": [",
        tool_text, version_text);
    free(tool_text);
    free(version_text);
    json_decref(tool);
    json_decref(version);
    m->begun = true;
}

/* The summary's entry, with the settings of its run, which may differ in a merged report. */
static json_t *json_entry(const struct merge_entry *e, unsigned min_judged)
{
    json_t *o = json_copy(e->given);
    json_object_set_new(o, "node", json_string(e->node));
    json_object_set_new(o, "file", json_string(e->file));
    json_object_set_new(o, "tool", json_string(e->tool));
    json_object_set(o, "strict", json_object_get(e->settings, "strict"));
    json_object_set(o, "deviations", json_object_get(e->settings, "deviations"));
    json_object_set(o, "only", json_object_get(e->settings, "only"));
    if (json_object_get(e->settings, "fail_on"))
        json_object_set(o, "fail_on", json_object_get(e->settings, "fail_on"));
    if (min_judged)
        json_object_set_new(o, "min_judged", json_integer(min_judged));
    return o;
}

/* The entry of a file that could not be read. */
static json_t *entry_of_nothing(const struct restored *r, const char *node, const char *file)
{
    return json_pack("{ss ss si si s{si si si si si si} ss ss ss ss sb ss s[]}", "name", file,
                     "verdict", status_name(VERDICT_UNJUDGED), "frames", 0, "ipoib_frames", 0,
                     "rules", "must_violated", 0, "should_violated", 0, "deviation", 0,
                     "inconclusive", 0, "noted", 0, "passed", 0, "error", r->checked.trouble,
                     "node", node, "file", file, "tool", r->report.tool, "strict", 0, "deviations",
                     "", "only");
}

json_t *merge_json_entry(const struct restored *r, const struct merge_entry *e, const char *node,
                         const char *file)
{
    return e ? json_entry(e, r->report.min_judged) : entry_of_nothing(r, node, file);
}

json_t *merge_json_result(const json_t *result, const char *node, const char *file)
{
    json_t *o = json_copy((json_t *)result);
    json_object_set_new(o, "node", json_string(node));
    json_object_set_new(o, "file", json_string(file));
    return o;
}

static void merged_json(struct report_merge *m, const struct restored *r,
                        const struct merge_entry *e, const char *node, const char *file)
{
    int kind = r->report.probed ? TARGETS : CAPTURES;
    json_t *entry = merge_json_entry(r, e, node, file);
    if (!m->begun)
        put_begin(m);
    for (guint i = 0; e && i < e->results->len; i++) {
        json_t *result = merge_json_result(e->results->pdata[i], node, file);
        put_value(m->spool, result, "  ", &m->n_results);
        json_decref(result);
    }
    put_value(m->entries[kind], entry, "   ", &m->n_entries[kind]);
    json_decref(entry);
}

/* ---- the summary */

json_t *merge_json_node(const struct tally_node *n)
{
    return json_pack("{ss ss si si si}", "name", n->name, "verdict",
                     status_name(tally_status(n->by_status, n->unmet)), "violated",
                     (int)n->by_status[VERDICT_VIOLATED], "unjudged",
                     (int)n->by_status[VERDICT_UNJUDGED], "conformant",
                     (int)n->by_status[VERDICT_CONFORMANT]);
}

static json_t *json_names(const struct merge_tally *t, guint item, int outcome)
{
    json_t *list = json_array();
    for (guint i = 0; i < t->nodes->len; i++) {
        const struct tally_node *n = t->nodes->pdata[i];
        if (tally_worst(n, item) == outcome)
            json_array_append_new(list, json_string(n->name));
    }
    return list;
}

json_t *merge_json_item(const struct merge_tally *t, guint number, enum outcome outcome)
{
    const struct tally_item *item = t->items->pdata[number];
    return json_pack("{ss ss ss sI sb si so}", "id", item->id, "level",
                     item->rule ? rule_level_name(item->rule->level) : "STAGE", "outcome",
                     outcome_name(outcome), "count", (json_int_t)item->counts[outcome], "violation",
                     outcome == OUTCOME_FAIL && item->violation, "nodes",
                     (int)tally_nodes_with(t, number, (int)outcome), "names",
                     json_names(t, number, (int)outcome));
}

json_t *merge_json_totals(const struct merge_tally *t)
{
    return json_pack("{ss si si si si si si}", "verdict",
                     status_name(tally_status(t->by_status, t->unmet->len)), "exit_status",
                     tally_exit_status(t), "violated", (int)t->by_status[VERDICT_VIOLATED],
                     "unjudged", (int)t->by_status[VERDICT_UNJUDGED], "conformant",
                     (int)t->by_status[VERDICT_CONFORMANT], "no_violation_proved", (int)t->partial,
                     "reports", (int)t->reports);
}

/* Writes each rule with its nodes; a node is listed once, with its worst outcome. */
static void put_items(struct report_merge *m)
{
    unsigned before = 0;
    for (guint i = 0; i < m->tally->items->len; i++)
        for (size_t k = 0; k < VERDICT_OUTCOMES; k++)
            if (tally_nodes_with(m->tally, i, outcomes_in_order[k])) {
                json_t *item = merge_json_item(m->tally, i, (enum outcome)outcomes_in_order[k]);
                put_value(m->spool, item, "   ", &before);
                json_decref(item);
            }
}

static void put_nodes(struct report_merge *m)
{
    unsigned before = 0;
    for (guint i = 0; i < m->tally->nodes->len; i++) {
        json_t *node = merge_json_node(m->tally->nodes->pdata[i]);
        put_value(m->spool, node, "   ", &before);
        json_decref(node);
    }
}

static void put_entries(struct report_merge *m, int kind)
{
    char buffer[1 << 16];
    size_t n;
    rewind(m->entries[kind]);
    while ((n = fread(buffer, 1, sizeof buffer, m->entries[kind])) > 0)
        fwrite(buffer, 1, n, m->spool);
}

/* Only if a report has such a list. */
static void put_required(struct report_merge *m)
{
    unsigned before = 0;
    json_t *one;
    size_t i;
    if (json_array_size(m->tally->required) == 0)
        return;
    fputs("\n  ],\n  \"required\": [", m->spool);
    json_array_foreach(m->tally->required, i, one) put_value(m->spool, one, "   ", &before);
}

static void json_end(struct report_merge *m)
{
    const struct merge_tally *t = m->tally;
    enum verdict_status status = tally_status(t->by_status, t->unmet->len);
    if (!m->begun)
        put_begin(m);
    fprintf(
        m->spool,
        "\n ],\n \"summary\": {\n  \"verdict\": \"%s\",\n  \"exit_status\": %d,\n  \"violated\": %u,\n  \"unjudged\": %u,\n"
        "  \"conformant\": %u,\n  \"no_violation_proved\": %u,\n  \"reports\": %u,\n  \"nodes\": [",
        status_name(status), tally_exit_status(t), t->by_status[VERDICT_VIOLATED],
        t->by_status[VERDICT_UNJUDGED], t->by_status[VERDICT_CONFORMANT], t->partial, t->reports);
    put_nodes(m);
    fputs("\n  ],\n  \"rules\": [", m->spool);
    put_items(m);
    put_required(m);
    fputs("\n  ],\n  \"captures\": [", m->spool);
    put_entries(m, CAPTURES);
    fputs("\n  ],\n  \"targets\": [", m->spool);
    put_entries(m, TARGETS);
    fputs("\n  ]\n }\n}\n", m->spool);
}

const struct merge_writer merge_writer_json = {merged_json, json_end};
