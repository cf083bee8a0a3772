/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/list.h"

#include <jansson.h>
#include <stdlib.h>

#include "report/words.h"
#include "rules/check.h"

static const char *seen_name(enum rule_seen seen)
{
    static const char *const names[] = {
        [RULE_SEEN_P] = "capture",         [RULE_SEEN_A] = "probe",
        [RULE_SEEN_PA] = "capture, probe", [RULE_SEEN_S] = "these tools",
        [RULE_SEEN_N] = "nothing",         [RULE_SEEN_NONE] = "not looked for"};
    return names[seen];
}

/* ---- text */

enum { COLUMNS = 4 };

static void fill_columns(char *columns[COLUMNS], const struct rule *r)
{
    GString *place = g_string_new(NULL);
    words_add_place(place, r);
    columns[0] = g_strdup(r->id);
    columns[1] = g_strdup(rule_level_name(r->level));
    columns[2] = g_string_free(place, FALSE);
    columns[3] = g_strdup(seen_name(r->seen));
}

static void clear_columns(char *columns[COLUMNS])
{
    for (size_t i = 0; i < COLUMNS; i++)
        g_free(columns[i]);
}

static void measure_columns(int widths[COLUMNS], const struct rule_selection *selection)
{
    char *columns[COLUMNS];
    for (size_t rule = 0; rule < RULE_COUNT; rule++) {
        if (!selection->rule[rule])
            continue;
        fill_columns(columns, &rules[rule]);
        for (size_t i = 0; i < COLUMNS; i++)
            widths[i] = MAX(widths[i], (int)g_utf8_strlen(columns[i], -1));
        clear_columns(columns);
    }
}

GString *list_text(const struct rule_selection *selection)
{
    GString *out = g_string_new(NULL);
    char *columns[COLUMNS];
    int widths[COLUMNS] = {0};
    measure_columns(widths, selection);
    for (size_t rule = 0; rule < RULE_COUNT; rule++) {
        if (!selection->rule[rule])
            continue;
        fill_columns(columns, &rules[rule]);
        for (size_t i = 0; i < COLUMNS; i++)
            g_string_append_printf(out, "%-*s  ", widths[i], columns[i]);
        g_string_append_printf(out, "%s\n", rules[rule].text);
        clear_columns(columns);
    }
    return out;
}

/* ---- JSON */

static json_t *json_causes(const struct rule *r)
{
    json_t *list = json_array();
    const char *cause;
    for (unsigned n = 0; (cause = rule_cause((enum rule_number)(r - rules), n)) != NULL; n++)
        json_array_append_new(list, json_string(cause));
    return list;
}

static json_t *json_rule(const struct rule *r)
{
    const char *unseen = rule_unseen_reason(r);
    return json_pack("{ss ss ss ss ss ss sb sb ss* so ss}", "id", r->id, "level",
                     rule_level_name(r->level), "document", rule_document_name(r->document),
                     "section", r->section, "basis", rule_basis_name(r->basis), "bound",
                     rule_bound_name(r->bound), "capture", rule_in_capture(r), "probe",
                     rule_by_probe(r), "unseen", unseen, "causes", json_causes(r), "text", r->text);
}

GString *list_json(const struct rule_selection *selection, const char *tool, const char *version)
{
    json_t *list = json_array();
    for (size_t rule = 0; rule < RULE_COUNT; rule++)
        if (selection->rule[rule])
            json_array_append_new(list, json_rule(&rules[rule]));
    json_t *whole = json_pack("{ss ss so}", "tool", tool, "version", version, "rules", list);
    char *text = json_dumps(whole, JSON_INDENT(1));
    GString *out = g_string_new(text);
    g_string_append_c(out, '\n');
    free(text);
    json_decref(whole);
    return out;
}
