/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -z ipoib,conformance and -z ipoib,conformance,json: the verdict on the whole capture, rule by
 * rule. The JSON has the members of ipoib-check's.
 */
#include "plugin/tap.h"

#include <inttypes.h>
#include <wsutil/json_dumper.h>

#include "report/verdict.h"
#include "report/words.h"

/* ---- the worst first */

struct judged_rule {
    enum rule_number rule;
    enum outcome worst;
    int rank;
};

static int rank_of(enum rule_number rule, enum outcome worst)
{
    static const int ranks[OUTCOMES] = {[OUTCOME_FAIL] = 0,
                                        [OUTCOME_DEVIATION] = 2,
                                        [OUTCOME_INCONCLUSIVE] = 3,
                                        [OUTCOME_NOTED] = 4,
                                        [OUTCOME_PASS] = 5};
    return ranks[worst] + (worst == OUTCOME_FAIL && rules[rule].level != RULE_MUST);
}

static gint by_rank(gconstpointer a, gconstpointer b)
{
    const struct judged_rule *x = a, *y = b;
    return x->rank != y->rank ? x->rank - y->rank : (gint)x->rule - (gint)y->rule;
}

/* The rules that had an occasion. */
static GArray *judged_rules(const struct verdict *v)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(struct judged_rule));
    for (int i = 0; v && i < RULE_COUNT; i++) {
        enum rule_number rule = (enum rule_number)i;
        int worst = verdict_worst(v, rule);
        if (worst < 0)
            continue;
        struct judged_rule j = {rule, (enum outcome)worst, rank_of(rule, (enum outcome)worst)};
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

static void add_rule(struct rows *rows, const struct verdict *v, const struct judged_rule *j)
{
    cell_text(rows, "%s", rules[j->rule].id);
    cell_text(rows, "%s", rule_level_name(rules[j->rule].level));
    cell_text(rows, "%s", outcome_name(j->worst));
    cell_number(rows, verdict_count(v, j->rule, OUTCOME_PASS));
    cell_number(rows, verdict_count(v, j->rule, OUTCOME_FAIL));
    cell_number(rows, verdict_count(v, j->rule, OUTCOME_DEVIATION));
    cell_number(rows, verdict_count(v, j->rule, OUTCOME_INCONCLUSIVE));
    cell_number(rows, verdict_count(v, j->rule, OUTCOME_NOTED));
    cell_frames(rows, verdict_result(v, j->rule, j->worst));
}

static void fill(struct rows *rows)
{
    const struct verdict *v = conformance_verdict();
    GArray *found = judged_rules(v);
    for (unsigned i = 0; i < found->len; i++)
        add_rule(rows, v, &g_array_index(found, struct judged_rule, i));
    g_array_free(found, TRUE);
}

/* ---- the totals */

static struct verdict_summary summary(const struct verdict *v)
{
    return v ? verdict_summarize_capture(v, false)
             : (struct verdict_summary){.status = VERDICT_UNJUDGED};
}

/* Why there is no verdict; NULL: there is one. */
static const char *why_not(const struct verdict *v)
{
    if (!v)
        return conformance_why_not();
    struct verdict_summary s = summary(v);
    return s.status == VERDICT_UNJUDGED ? verdict_why_not(&s, verdict_ipoib_frames(v)) : NULL;
}

static void conclude(GString *out)
{
    const struct verdict *v = conformance_verdict();
    struct verdict_summary s = summary(v);
    const char *reason = why_not(v);
    g_string_append_printf(
        out,
        "%" PRIu64 " frames, %" PRIu64 " with IPoIB. Rules: %u MUST violated, %u SHOULD violated, "
        "%u known deviations, %u inconclusive, %u noted, %u passed; "
        "%u of %u MUST and SHOULD rules judged.\n",
        v ? verdict_frames(v) : 0, v ? verdict_ipoib_frames(v) : 0, s.must, s.should, s.deviated,
        s.inconclusive, s.noted, s.passed, s.judged, s.applicable);
    g_string_append_printf(out, "Verdict: %s%s%s\n", status_name(s.status), reason ? ": " : "",
                           reason ? reason : "");
}

/* ---- JSON */

static void put_string(json_dumper *d, const char *name, const char *value)
{
    json_dumper_set_member_name(d, name);
    json_dumper_value_string(d, value);
}

static void put_number(json_dumper *d, const char *name, uint64_t value)
{
    json_dumper_set_member_name(d, name);
    json_dumper_value_anyf(d, "%" PRIu64, value);
}

static void put_bool(json_dumper *d, const char *name, bool value)
{
    json_dumper_set_member_name(d, name);
    json_dumper_value_anyf(d, "%s", value ? "true" : "false");
}

static void begin_array(json_dumper *d, const char *name)
{
    json_dumper_set_member_name(d, name);
    json_dumper_begin_array(d);
}

static void put_frames(json_dumper *d, const struct verdict_frames *f)
{
    begin_array(d, "frames");
    for (unsigned i = 0; i < f->n; i++)
        json_dumper_value_anyf(d, "%" PRIu32, f->first[i]);
    json_dumper_end_array(d);
}

static void put_texts(json_dumper *d, const struct verdict_case *c)
{
    put_string(d, "subject", c ? c->subject : "");
    put_string(d, "expected", c ? c->expected : "");
    put_string(d, "actual", c ? c->actual : "");
    put_string(d, "reason", c ? c->reason : "");
}

static void put_cases(json_dumper *d, const struct verdict_result *r)
{
    begin_array(d, "cases");
    for (unsigned i = 0; i < r->n_cases; i++) {
        json_dumper_begin_object(d);
        put_texts(d, &r->cases[i]);
        put_number(d, "count", r->cases[i].count);
        put_frames(d, &r->cases[i].frames);
        json_dumper_end_object(d);
    }
    json_dumper_end_array(d);
    put_number(d, "further_cases", r->uncased);
}

static void put_rule(json_dumper *d, const struct rule *rule)
{
    put_string(d, "capture", "capture");
    put_string(d, "id", rule->id);
    put_string(d, "level", rule_level_name(rule->level));
    put_string(d, "document", rule_document_name(rule->document));
    put_string(d, "section", rule->section);
}

static void put_result(json_dumper *d, const struct verdict *v, enum rule_number rule,
                       enum outcome outcome)
{
    static const struct verdict_result nothing;
    const struct verdict_result *r = verdict_result(v, rule, outcome);
    r = r ? r : &nothing;
    json_dumper_begin_object(d);
    put_rule(d, &rules[rule]);
    put_string(d, "outcome", outcome_name(outcome));
    put_number(d, "count", verdict_count(v, rule, outcome));
    put_bool(d, "violation", outcome == OUTCOME_FAIL && verdict_counts(rule, false));
    put_texts(d, r->n_cases ? &r->cases[0] : NULL);
    put_frames(d, &r->frames);
    put_cases(d, r);
    put_string(d, "text", rules[rule].text);
    json_dumper_end_object(d);
}

static void put_results(json_dumper *d, const struct verdict *v)
{
    static const enum outcome order[] = {OUTCOME_FAIL, OUTCOME_DEVIATION, OUTCOME_INCONCLUSIVE,
                                         OUTCOME_NOTED, OUTCOME_PASS};
    begin_array(d, "results");
    for (int rule = 0; v && rule < RULE_COUNT; rule++)
        for (size_t i = 0; i < array_length(order); i++)
            if (verdict_count(v, (enum rule_number)rule, order[i]))
                put_result(d, v, (enum rule_number)rule, order[i]);
    json_dumper_end_array(d);
}

static void put_capture(json_dumper *d, const struct verdict *v, const struct verdict_summary *s)
{
    const char *reason = why_not(v);
    json_dumper_begin_object(d);
    put_string(d, "name", "capture");
    put_string(d, "verdict", status_name(s->status));
    put_number(d, "frames", v ? verdict_frames(v) : 0);
    put_number(d, "ipoib_frames", v ? verdict_ipoib_frames(v) : 0);
    json_dumper_set_member_name(d, "rules");
    json_dumper_begin_object(d);
    put_number(d, "must_violated", s->must);
    put_number(d, "should_violated", s->should);
    put_number(d, "deviation", s->deviated);
    put_number(d, "inconclusive", s->inconclusive);
    put_number(d, "noted", s->noted);
    put_number(d, "passed", s->passed);
    put_number(d, "judged", s->judged);
    put_number(d, "applicable", s->applicable);
    json_dumper_end_object(d);
    json_dumper_set_member_name(d, "error");
    if (reason)
        json_dumper_value_string(d, reason);
    else
        json_dumper_value_anyf(d, "null");
    json_dumper_end_object(d);
}

static void put_summary(json_dumper *d, const struct verdict *v)
{
    struct verdict_summary s = summary(v);
    json_dumper_set_member_name(d, "summary");
    json_dumper_begin_object(d);
    put_string(d, "verdict", status_name(s.status));
    put_number(d, "violated", s.status == VERDICT_VIOLATED);
    put_number(d, "unjudged", s.status == VERDICT_UNJUDGED);
    put_number(d, "conformant", s.status == VERDICT_CONFORMANT);
    put_bool(d, "strict", false);
    put_string(d, "deviations", conformance_deviations());
    begin_array(d, "only");
    json_dumper_end_array(d);
    begin_array(d, "captures");
    put_capture(d, v, &s);
    json_dumper_end_array(d);
    json_dumper_end_object(d);
}

/* What the file is called is not known to a plugin. */
static void write_json(GString *out)
{
    const struct verdict *v = conformance_verdict();
    json_dumper d = {.output_string = out, .flags = JSON_DUMPER_FLAGS_PRETTY_PRINT};
    json_dumper_begin_object(&d);
    put_string(&d, "tool", "ipoib-plugin");
    put_string(&d, "version", PLUGIN_VERSION);
    put_string(&d, "subject", "capture");
    put_results(&d, v);
    put_summary(&d, v);
    json_dumper_end_object(&d);
    json_dumper_finish(&d);
}

void tap_conformance_register(void)
{
    static const struct column columns[] = {
        {"Rule", false},        {"Level", false}, {"Outcome", false},
        {"Passed", true},       {"Failed", true}, {"Deviated", true},
        {"Inconclusive", true}, {"Noted", true},  {"First frames", false},
    };
    static const struct table conformance = {"ipoib,conformance",
                                             "IPoIB Conformance",
                                             "no rule had an occasion",
                                             columns,
                                             array_length(columns),
                                             fill,
                                             conclude};
    table_register(&conformance);
    text_register("ipoib,conformance,json", write_json);
}
