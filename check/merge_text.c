/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merged reports as text: the failures by node, then the nodes by rule. The report of each node has
 * the details.
 */
#include <inttypes.h>

#include "check/merge.h"
#include "report/report_events.h"
#include "report/words.h"

static const char red[] = "\033[1;31m", bold[] = "\033[1m", plain[] = "\033[0m"; /* ECMA-48 SGR */

static void put_coloured(const struct report_merge *m, const char *colour, const char *words)
{
    fprintf(m->spool, "%s%s%s", m->colours ? colour : "", words, m->colours ? plain : "");
}

/* ---- a capture or target */

static void put_failures(const struct report_merge *m, const struct restored *r)
{
    for (size_t rule = 0; rule < RULE_COUNT; rule++) {
        const struct verdict_result *found = verdict_result(r->checked.verdict,
                                                            (enum rule_number)rule, OUTCOME_FAIL);
        if (!found)
            continue;
        GString *cases = g_string_new(NULL);
        words_add_cases(cases, found, "                  ");
        fputs("  ", m->spool);
        put_coloured(m, red, "fail");
        fprintf(m->spool, "          %s%s\n%s", rules[rule].id,
                rules[rule].level == RULE_SHOULD ? " (SHOULD)" : "", cases->str);
        g_string_free(cases, TRUE);
    }
}

static void put_events(const struct report_merge *m, const struct event_table *events)
{
    GString *out = g_string_new(NULL);
    if (event_table_count(events))
        report_add_events(out, events, "  event         ", "the capture's own report lists them");
    fputs(out->str, m->spool);
    g_string_free(out, TRUE);
}

static void merged_text(struct report_merge *m, const struct restored *r,
                        const struct merge_entry *e, const char *node, const char *file)
{
    (void)e;
    (void)node;
    (void)file;
    GString *out = g_string_new(NULL);
    struct report whole = r->report;
    whole.verbose = true; /* with --merge there is no -v */
    if (r->report.probed)
        report_text_probed(out, &whole, &r->checked, m->colours);
    else
        report_text_verdict(out, &r->report, &r->checked, m->colours);
    fputs(out->str, m->spool);
    g_string_free(out, TRUE);
    if (!r->report.probed)
        put_failures(m, r);
    put_events(m, r->checked.events);
}

/* ---- by rule */

struct text_group {
    int outcome;
    int level; /* -1: any; -2: stages */
    const char *heading;
};

static bool belongs(const struct tally_item *item, const struct text_group *g)
{
    return g->level == -2 ? !item->rule
                          : item->rule && (g->level == -1 || (int)item->rule->level == g->level);
}

static void put_nodes(const struct report_merge *m, guint item, int outcome)
{
    const char *before = "      ";
    for (guint i = 0; i < m->tally->nodes->len; i++) {
        const struct tally_node *n = m->tally->nodes->pdata[i];
        if (tally_worst(n, item) != outcome)
            continue;
        fprintf(m->spool, "%s%s", before, n->name);
        before = ", ";
    }
    fputc('\n', m->spool);
}

static void put_item(const struct report_merge *m, guint number, const struct text_group *g,
                     unsigned at)
{
    const struct tally_item *item = m->tally->items->pdata[number];
    guint nodes = m->tally->nodes->len;
    fprintf(m->spool, "  %s", item->id);
    if (item->rule) {
        GString *place = g_string_new(NULL);
        words_add_place(place, item->rule);
        fprintf(m->spool, "  (%s)", place->str);
        g_string_free(place, TRUE);
    }
    fprintf(m->spool, "  at %u of %u node%s, %" PRIu64 " finding%s\n", at, nodes,
            nodes == 1 ? "" : "s", item->counts[g->outcome],
            item->counts[g->outcome] == 1 ? "" : "s");
    if (item->rule && g->outcome != OUTCOME_INCONCLUSIVE)
        fprintf(m->spool, "      %s\n", item->rule->text);
    if (at < nodes)
        put_nodes(m, number, g->outcome);
}

static void put_group(const struct report_merge *m, const struct text_group *g)
{
    bool headed = false;
    for (guint i = 0; i < m->tally->items->len; i++) {
        unsigned at = belongs(m->tally->items->pdata[i], g)
                          ? tally_nodes_with(m->tally, i, g->outcome)
                          : 0;
        if (at && !headed) {
            fputc('\n', m->spool);
            put_coloured(m, bold, g->heading);
            fputc('\n', m->spool);
            headed = true;
        }
        if (at)
            put_item(m, i, g, at);
    }
}

/* The demands of --require and --min-judged that were not met. */
static void put_unmet(const struct report_merge *m)
{
    const GPtrArray *unmet = m->tally->unmet;
    for (guint i = 0; i < unmet->len; i++)
        fprintf(m->spool, "%s%s\n", i ? "" : "\n", (const char *)unmet->pdata[i]);
}

static const char *what(const struct merge_tally *t, bool is_one)
{
    if (t->targets && t->captures)
        return "captures and targets";
    if (is_one)
        return t->targets ? "target" : "capture";
    return t->targets ? "targets" : "captures";
}

static void put_statuses(const struct report_merge *m, const unsigned by_status[3],
                         unsigned partial)
{
    GString *out = g_string_new(": ");
    words_add_statuses(out, by_status, partial);
    fprintf(m->spool, "%s\n", out->str);
    g_string_free(out, TRUE);
}

static void text_end(struct report_merge *m)
{
    static const struct text_group groups[] = {
        {OUTCOME_FAIL, RULE_MUST, "MUST, violated"},
        {OUTCOME_FAIL, RULE_SHOULD, "SHOULD, violated"},
        {OUTCOME_FAIL, -2, "Stages of a fabric, failed"},
        {OUTCOME_UNPROVED, -1, "Violated, but not proved"},
        {OUTCOME_SUSPECTED, -1, "Suspected"},
        {VERDICT_KNOWN, -1, "Known from the baselines"},
        {OUTCOME_DEVIATION, -1, "Known deviations"},
        {OUTCOME_NOTED, -1, "Noted"},
        {OUTCOME_INCONCLUSIVE, -1, "Inconclusive in every report of the node"},
    };
    const struct merge_tally *t = m->tally;
    unsigned at[3] = {0, 0, 0}, partial = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(groups); i++)
        put_group(m, &groups[i]);
    put_unmet(m);
    for (guint i = 0; i < t->nodes->len; i++) {
        const struct tally_node *node = t->nodes->pdata[i];
        enum verdict_status status = tally_status(node->by_status, node->unmet);
        at[status]++;
        partial += status == VERDICT_CONFORMANT && node->partial;
    }
    unsigned n = t->by_status[0] + t->by_status[1] + t->by_status[2];
    fprintf(m->spool, "\n%u report%s, %u %s", t->reports, t->reports == 1 ? "" : "s", n,
            what(t, n == 1));
    put_statuses(m, t->by_status, t->partial);
    fprintf(m->spool, "%u node%s", t->nodes->len, t->nodes->len == 1 ? "" : "s");
    put_statuses(m, at, partial);
}

const struct merge_writer merge_writer_text = {merged_text, text_end};
