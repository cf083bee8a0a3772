/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -z ipoib,conformance and -z ipoib,conformance,json: the verdict on the whole capture and the
 * result of each rule. The JSON report comes from the same code as that of ipoib-check.
 */
#include "plugin/conformance.h"
#include "plugin/events.h"
#include "plugin/protocol.h"
#include "plugin/tap.h"

#include <inttypes.h>

#include "report/report.h"
#include "report/words.h"

/* ---- order: most severe first */

struct checked_rule {
    enum rule_number rule;
    enum outcome worst;
    int rank;
};

static int rank_of(enum rule_number rule, enum outcome worst)
{
    static const int ranks[OUTCOMES] = {
        [OUTCOME_FAIL] = 0,      [OUTCOME_UNPROVED] = 2,     [OUTCOME_SUSPECTED] = 3,
        [OUTCOME_DEVIATION] = 4, [OUTCOME_INCONCLUSIVE] = 5, [OUTCOME_NOTED] = 6};
    return ranks[worst] + (worst == OUTCOME_FAIL && rules[rule].level != RULE_MUST);
}

static gint by_rank(gconstpointer a, gconstpointer b)
{
    const struct checked_rule *x = a, *y = b;
    return x->rank != y->rank ? x->rank - y->rank : (gint)x->rule - (gint)y->rule;
}

/* The rules that found something in this capture, most severe first; the totals count the others.
 */
static GArray *checked_rules(const struct verdict *v)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(struct checked_rule));
    for (int i = 0; v && i < RULE_COUNT; i++) {
        enum rule_number rule = (enum rule_number)i;
        int worst = verdict_worst(v, rule);
        if (worst < 0 || worst == OUTCOME_PASS)
            continue;
        struct checked_rule j = {rule, (enum outcome)worst, rank_of(rule, (enum outcome)worst)};
        g_array_append_val(found, j);
    }
    g_array_sort(found, by_rank);
    return found;
}

/* ---- the table */

enum { FRAMES_SHOWN = 5 };

static void cell_frames(struct rows *rows, const struct verdict_result *r)
{
    GString *s = g_string_new(NULL);
    for (unsigned i = 0; r && i < MIN(r->frames.n, FRAMES_SHOWN); i++)
        g_string_append_printf(s, "%s%" PRIu32, i ? ", " : "", r->frames.first[i]);
    if (r && (r->frames.n > FRAMES_SHOWN || r->frames.more))
        g_string_append(s, ", ...");
    cell_text(rows, "%s", s->str);
    g_string_free(s, TRUE);
}

static void add_rule_row(struct rows *rows, const struct verdict *v, const struct checked_rule *j)
{
    cell_text(rows, "%s", rules[j->rule].id);
    cell_text(rows, "%s", rule_level_name(rules[j->rule].level));
    cell_text(rows, "%s", outcome_name(j->worst));
    cell_number(rows, verdict_count(v, j->rule, OUTCOME_PASS));
    cell_number(rows, verdict_count(v, j->rule, OUTCOME_FAIL));
    cell_number(rows, verdict_count(v, j->rule, OUTCOME_SUSPECTED));
    cell_number(rows, verdict_count(v, j->rule, OUTCOME_DEVIATION));
    cell_number(rows, verdict_count(v, j->rule, OUTCOME_INCONCLUSIVE));
    cell_number(rows, verdict_count(v, j->rule, OUTCOME_NOTED));
    cell_frames(rows, verdict_result(v, j->rule, j->worst));
}

static void fill_conformance(struct rows *rows)
{
    const struct verdict *v = conformance_verdict();
    GArray *found = checked_rules(v);
    for (unsigned i = 0; i < found->len; i++)
        add_rule_row(rows, v, &g_array_index(found, struct checked_rule, i));
    g_array_free(found, TRUE);
}

/* ---- the totals */

static struct verdict_summary summary(const struct verdict *v)
{
    return v ? verdict_summarize_capture(v, false)
             : (struct verdict_summary){.status = VERDICT_UNJUDGED};
}

/* Why there is no verdict, or violations may not have been found; else NULL. */
static const char *why_no_verdict(const struct verdict *v)
{
    if (!v)
        return conformance_why_not();
    struct verdict_summary s = summary(v);
    if (verdict_ipoib_frames(v) == 0 && disabled_protocol())
        return disabled_protocol();
    bool not_sure = s.status == VERDICT_UNJUDGED || s.undone;
    return not_sure ? verdict_why_not(&s, verdict_ipoib_frames(v)) : NULL;
}

static uint64_t count_of_all_rules(const struct verdict *v, enum outcome outcome)
{
    uint64_t count = 0;
    for (int i = 0; v && i < RULE_COUNT; i++)
        count += verdict_count(v, (enum rule_number)i, outcome);
    return count;
}

/* The verdict, and the results of all rules, also of those that only passed. */
static void add_verdict_row(struct rows *rows)
{
    const struct verdict *v = conformance_verdict();
    const char *reason = why_no_verdict(v);
    cell_text(rows, "all rules");
    cell_text(rows, "%s", "");
    struct verdict_summary s = summary(v);
    cell_text(rows, "%s%s%s", verdict_words(&s), reason ? ": " : "", reason ? reason : "");
    cell_number(rows, count_of_all_rules(v, OUTCOME_PASS));
    cell_number(rows, count_of_all_rules(v, OUTCOME_FAIL));
    cell_number(rows, count_of_all_rules(v, OUTCOME_SUSPECTED));
    cell_number(rows, count_of_all_rules(v, OUTCOME_DEVIATION));
    cell_number(rows, count_of_all_rules(v, OUTCOME_INCONCLUSIVE));
    cell_number(rows, count_of_all_rules(v, OUTCOME_NOTED));
    cell_text(rows, "%s", "");
}

static void append_verdict(GString *out)
{
    const struct verdict *v = conformance_verdict();
    struct verdict_summary s = summary(v);
    const char *reason = why_no_verdict(v);
    g_string_append_printf(out, "%" PRIu64 " frames, %" PRIu64 " with IPoIB. ",
                           v ? verdict_frames(v) : 0, v ? verdict_ipoib_frames(v) : 0);
    words_add_judged(out, &s, false);
    g_string_append_printf(out,
                           ". Rules: %u MUST violated, %u SHOULD violated, %u known deviations, "
                           "%u suspected, %u inconclusive, %u noted, %u passed.\n",
                           s.must, s.should, s.deviated, s.suspected, s.inconclusive, s.noted,
                           s.passed);
    if (v && undone_any(verdict_undone(v))) {
        g_string_append(out, "Undone: a table of the checker was full\n");
        words_add_undone(out, verdict_undone(v));
    }
    if (v && unseen_any(verdict_unseen(v))) {
        g_string_append(out, "Not seen: ");
        words_add_unseen(out, verdict_unseen(v), true);
        g_string_append_c(out, '\n');
    }
    g_string_append_printf(out, "Verdict: %s%s%s\n", verdict_words(&s), reason ? ": " : "",
                           reason ? reason : "");
}

/* ---- JSON */

static char entity[] = "capture";

/*
 * Writes the report of ipoib-check (report/report.h). A plugin does not know the name of the file.
 */
static void write_json(GString *out)
{
    const struct verdict *v = conformance_verdict();
    struct verdict *nothing = v ? NULL : verdict_new(NULL);
    struct checked checked = {.name = entity,
                              .verdict = v ? (struct verdict *)v : nothing,
                              .events = events_of_file(),
                              .trouble = v ? NULL : g_strdup(conformance_why_not())};
    struct report r = {.tool = "ipoib-plugin",
                       .version = PLUGIN_VERSION,
                       .deviations = conformance_deviations(),
                       .captures = &checked,
                       .n = 1};
    GString *whole = report_whole(&report_parts_json, &r);
    g_string_append_len(out, whole->str, (gssize)whole->len);
    g_string_free(whole, TRUE);
    g_free(checked.trouble);
    verdict_free(nothing);
}

void tap_conformance_register(void)
{
    static const struct column columns[] = {
        {.name = "Rule"},
        {.name = "Level"},
        {.name = "Outcome"},
        {.name = "Passed", .number = true, .text_only = true},
        {.name = "Failed", .number = true},
        {.name = "Suspected", .number = true, .text_only = true},
        {.name = "Deviated", .number = true, .text_only = true},
        {.name = "Inconclusive", .number = true, .text_only = true},
        {.name = "Noted", .number = true, .text_only = true},
        {.name = "First frames"},
    };
    static const struct tap_table conformance = {
        "ipoib,conformance",   "IPoIB Conformance", "no rule found anything", columns,
        array_length(columns), fill_conformance,    add_verdict_row,          append_verdict};
    table_register(&conformance);
    text_register("ipoib,conformance,json", write_json);
}
