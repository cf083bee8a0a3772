/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/merge_tally.h"

#include "model/hash.h"

#include <string.h>

static void item_free(gpointer item)
{
    g_free(((struct tally_item *)item)->id);
    g_free(item);
}

static void node_free(gpointer node)
{
    g_free(((struct tally_node *)node)->name);
    g_byte_array_unref(((struct tally_node *)node)->worst);
    g_free(node);
}

static guint new_item(struct merge_tally *t, const char *id, const struct rule *rule)
{
    struct tally_item *item = g_new0(struct tally_item, 1);
    item->id = g_strdup(id);
    item->rule = rule;
    g_ptr_array_add(t->items, item);
    g_hash_table_insert(t->item_of_id, item->id, GUINT_TO_POINTER(t->items->len - 1));
    return t->items->len - 1;
}

struct merge_tally *tally_new(void)
{
    struct merge_tally *t = g_new0(struct merge_tally, 1);
    t->items = g_ptr_array_new_with_free_func(item_free);
    t->nodes = g_ptr_array_new_with_free_func(node_free);
    t->item_of_id = g_hash_table_new(hash_string, g_str_equal);
    t->node_of_name = g_hash_table_new(hash_string, g_str_equal);
    t->required = json_array();
    t->unmet = g_ptr_array_new_with_free_func(g_free);
    for (size_t rule = 0; rule < RULE_COUNT; rule++)
        new_item(t, rules[rule].id, &rules[rule]);
    return t;
}

void tally_free(struct merge_tally *t)
{
    g_hash_table_unref(t->node_of_name);
    g_hash_table_unref(t->item_of_id);
    g_ptr_array_unref(t->nodes);
    g_ptr_array_unref(t->items);
    json_decref(t->required);
    g_ptr_array_unref(t->unmet);
    g_free(t);
}

static struct tally_node *node_named(struct merge_tally *t, const char *name)
{
    struct tally_node *n = g_hash_table_lookup(t->node_of_name, name);
    if (n)
        return n;
    n = g_new0(struct tally_node, 1);
    n->name = g_strdup(name);
    n->worst = g_byte_array_new();
    g_ptr_array_add(t->nodes, n);
    g_hash_table_insert(t->node_of_name, n->name, n);
    return n;
}

int tally_worst(const struct tally_node *n, guint item)
{
    return item < n->worst->len ? (int)n->worst->data[item] - 1 : -1;
}

static void note_outcome(struct tally_node *n, guint item, int outcome)
{
    guint before = n->worst->len;
    if (item >= before) {
        g_byte_array_set_size(n->worst, item + 1);
        memset(n->worst->data + before, 0, item + 1 - before);
    }
    if (outcome_is_worse(outcome, tally_worst(n, item)))
        n->worst->data[item] = (guint8)(outcome + 1);
}

static void add_rules(struct merge_tally *t, struct tally_node *n, const struct restored *r)
{
    for (guint rule = 0; rule < RULE_COUNT; rule++) {
        struct tally_item *item = t->items->pdata[rule];
        int worst = verdict_worst(r->checked.verdict, (enum rule_number)rule);
        if (worst < 0)
            continue;
        note_outcome(n, rule, worst);
        for (size_t i = 0; i < VERDICT_OUTCOMES; i++)
            item->counts[i] += verdict_count(r->checked.verdict, (enum rule_number)rule,
                                             (enum outcome)i);
        item->violation |= worst == OUTCOME_FAIL &&
                           verdict_counts((enum rule_number)rule, r->report.strict);
    }
}

static void add_stages(struct merge_tally *t, struct tally_node *n, const struct restored *r)
{
    for (guint i = 0; r->checked.stages && i < r->checked.stages->len; i++) {
        const struct stage *s = r->checked.stages->pdata[i];
        gpointer found;
        bool known = g_hash_table_lookup_extended(t->item_of_id, s->id, NULL, &found);
        guint number = known ? GPOINTER_TO_UINT(found) : new_item(t, s->id, NULL);
        struct tally_item *item = t->items->pdata[number];
        item->counts[s->outcome]++;
        item->violation |= s->outcome == OUTCOME_FAIL;
        note_outcome(n, number, s->outcome);
    }
}

static void add_unmet(struct merge_tally *t, struct tally_node *n, char *line)
{
    n->unmet++;
    g_ptr_array_add(t->unmet, line);
}

void tally_add_required(struct merge_tally *t, const struct merge_required *required)
{
    const struct merge_required *q = required;
    json_array_append_new(t->required,
                          json_pack("{ss sb ss? ss ss}", "selector", q->selector, "judged", !q->why,
                                    "why", q->why, "node", q->node, "file", q->file));
    if (q->why)
        add_unmet(t, node_named(t, q->node),
                  g_strdup_printf("%s: required %s: NOT JUDGED: %s", q->node, q->selector, q->why));
}

static void add_min_judged(struct merge_tally *t, struct tally_node *n, const struct restored *r)
{
    if (checked_judges_too_few(&r->report, &r->checked))
        add_unmet(t, n,
                  g_strdup_printf("%s: NOT JUDGED: %u rules judged, at least %u required",
                                  r->checked.name, checked_summary(&r->report, &r->checked).judged,
                                  r->report.min_judged));
}

void tally_add(struct merge_tally *t, const char *node, const struct restored *r)
{
    struct tally_node *n = node_named(t, node);
    enum verdict_status status = checked_summary(&r->report, &r->checked).status;
    add_rules(t, n, r);
    add_stages(t, n, r);
    add_min_judged(t, n, r);
    t->suspected += checked_fails_on_suspected(&r->report, &r->checked);
    t->captures += !r->report.probed;
    t->targets += r->report.probed;
    if (status == VERDICT_CONFORMANT && r->checked.sweep)
        return; /* not counted, as in report_count() */
    bool partial = checked_is_partial(&r->report, &r->checked);
    n->by_status[status]++;
    t->by_status[status]++;
    n->partial += partial;
    t->partial += partial;
}

unsigned tally_nodes_with(const struct merge_tally *t, guint item, int outcome)
{
    unsigned n = 0;
    for (guint i = 0; i < t->nodes->len; i++)
        n += tally_worst(t->nodes->pdata[i], item) == outcome;
    return n;
}

enum verdict_status tally_status(const unsigned by_status[3], unsigned unmet)
{
    if (by_status[VERDICT_VIOLATED])
        return VERDICT_VIOLATED;
    return by_status[VERDICT_UNJUDGED] || unmet ? VERDICT_UNJUDGED : VERDICT_CONFORMANT;
}

int tally_exit_status(const struct merge_tally *t)
{
    return t->suspected ? EXIT_VIOLATED : exit_status_of(tally_status(t->by_status, t->unmet->len));
}
