/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report as JSON; doc/reports.md describes its members. */
#include "report/report_json.h"

#include <stdlib.h>
#include <string.h>

#include "report/report_events.h"
#include "report/required.h"
#include "report/swept_json.h"
#include "report/words.h"

static json_t *json_frames(const struct verdict_frames *f)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < f->n; i++)
        json_array_append_new(list, json_integer(f->first[i]));
    return list;
}

static json_t *json_senders(const struct verdict_senders *s)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < s->n; i++)
        json_array_append_new(list, json_string(s->first[i]));
    return list;
}

/* The command that prints the rule's page. */
static json_t *json_help(bool probed, enum rule_number rule)
{
    GString *command = g_string_new(NULL);
    words_add_help(command, probed, rule);
    json_t *text = json_string(command->str);
    g_string_free(command, TRUE);
    return text;
}

static json_t *json_evidence(const struct verdict_case *c)
{
    return json_pack("{ss ss ss}", "check", c->check, "sent", c->sent, "received", c->received);
}

static json_t *json_case(const struct verdict_case *c, bool probed)
{
    json_t *o = json_pack("{ss ss ss ss sI}", "subject", c->entity, "expected", c->expected,
                          "actual", c->actual, "reason", c->reason, "count", (json_int_t)c->count);
    if (c->cause)
        json_object_set_new(o, "cause", json_string(c->cause));
    if (c->has_value)
        json_object_set_new(o, "value", json_integer((json_int_t)c->value));
    if (c->other_frame)
        json_object_set_new(o, other_frame_key(c->by_flow), json_integer(c->other_frame));
    if (c->proved_frame)
        json_object_set_new(o, "proved_frame", json_integer(c->proved_frame));
    if (probed)
        json_object_set_new(o, "evidence", json_evidence(c));
    else
        json_object_set_new(o, "frames", json_frames(&c->frames));
    if (!probed)
        json_object_set_new(o, "senders", json_senders(&c->senders));
    return o;
}

static json_t *json_cases(const struct verdict_result *r, bool probed)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < r->n_cases; i++)
        json_array_append_new(list, json_case(&r->cases[i], probed));
    return list;
}

static json_t *json_all_evidence(const struct verdict_result *r)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < r->n_cases; i++)
        json_array_append_new(list, json_evidence(&r->cases[i]));
    return list;
}

/*
 * The result of a rule with this outcome. It repeats the first case; "cases" has all that were
 * kept.
 */
static json_t *json_result(const struct report *whole, const struct checked *j,
                           enum rule_number rule, enum outcome outcome)
{
    static const struct verdict_result nothing;
    const struct verdict_result *r = verdict_result(j->verdict, rule, outcome);
    r = r ? r : &nothing;
    const struct verdict_case *c = r->n_cases ? &r->cases[0] : NULL;
    json_t *o = json_pack(
        "{ss ss ss ss ss ss sI sb}", whole->probed ? "target" : "capture", j->name, "id",
        rules[rule].id, "level", rule_level_name(rules[rule].level), "document",
        rule_document_name(rules[rule].document), "section", rules[rule].section, "outcome",
        outcome_name(outcome), "count", (json_int_t)verdict_count(j->verdict, rule, outcome),
        "violation", outcome == OUTCOME_FAIL && verdict_counts(rule, whole->strict));
    json_object_update_new(
        o, json_pack("{ss ss ss ss so so sI}", "subject", c ? c->entity : "", "expected",
                     c ? c->expected : "", "actual", c ? c->actual : "", "reason",
                     c ? c->reason : "", whole->probed ? "evidence" : "frames",
                     whole->probed ? json_all_evidence(r) : json_frames(&r->frames), "cases",
                     json_cases(r, whole->probed), "further_cases", (json_int_t)r->uncased));
    json_object_set_new(o, "text", json_string(rules[rule].text));
    json_object_set_new(o, "help", json_help(whole->probed, rule));
    return o;
}

/* A stage of the diagnosis of a fabric, in the form of a rule's result. */
static json_t *json_stage(const struct checked *j, const struct stage *s)
{
    return json_pack("{ss ss ss ss ss ss sI sb ss ss ss ss s[] s[] sI ss}", "target", j->name, "id",
                     s->id, "level", "STAGE", "document", "", "section", "", "outcome",
                     outcome_name((enum outcome)s->outcome), "count", (json_int_t)1, "violation",
                     s->outcome == OUTCOME_FAIL, "subject", "", "expected", "", "actual", s->text,
                     "reason", "", "evidence", "cases", "further_cases", (json_int_t)0, "advice",
                     s->advice);
}

json_t *report_json_results(const struct report *r, const struct checked *j)
{
    json_t *list = json_array();
    for (guint i = 0; j->stages && i < j->stages->len; i++)
        json_array_append_new(list, json_stage(j, j->stages->pdata[i]));
    for (size_t rule = 0; rule < RULE_COUNT; rule++)
        for (size_t i = 0; i < VERDICT_OUTCOMES; i++) {
            enum outcome outcome = (enum outcome)outcomes_in_order[i];
            if (verdict_count(j->verdict, (enum rule_number)rule, outcome))
                json_array_append_new(list, json_result(r, j, (enum rule_number)rule, outcome));
        }
    return list;
}

/* Members of one tool only, or only with a baseline. */
static void add_counts(json_t *counts, const struct report *r, const struct verdict_summary *s)
{
    if (r->probed) {
        json_object_set_new(counts, "skipped", json_integer(s->skipped));
        return;
    }
    json_object_set_new(counts, "suspected", json_integer(s->suspected));
    json_object_set_new(counts, "judged", json_integer(s->judged));
    json_object_set_new(counts, "applicable", json_integer(s->applicable));
    if (r->baseline)
        json_object_set_new(counts, "known", json_integer(s->known));
}

/* What was left undone: tables that were full (model/undone.h), and stages without a result. */
static json_t *json_undone(const struct checked *j)
{
    const struct undone *u = j->verdict ? verdict_undone(j->verdict) : NULL;
    json_t *list = json_array();
    for (unsigned i = 0; u && i < UNDONE_TABLES; i++)
        if (u->tables[i].refused)
            json_array_append_new(list, json_pack("{ss ss sI sI}", "code", "table-full", "table",
                                                  undone_texts[i].name, "frame",
                                                  (json_int_t)u->tables[i].frame, "refused",
                                                  (json_int_t)u->tables[i].refused));
    for (guint i = 0; j->undone && i < j->undone->len; i++) {
        const struct undone_stage *stage = j->undone->pdata[i];
        json_array_append_new(list,
                              json_pack("{ss ss}", "code", stage->code, "stage", stage->stage));
    }
    return list;
}

/* What was not seen (model/unseen.h). */
static json_t *json_unseen(const struct checked *j)
{
    const struct unseen *u = j->verdict ? verdict_unseen(j->verdict) : NULL;
    json_t *list = json_array();
    for (unsigned i = 0; u && i < UNSEEN_KINDS; i++)
        if (u->kinds[i].count)
            json_array_append_new(list, json_pack("{ss sI sI}", "code", unseen_texts[i].name,
                                                  "count", (json_int_t)u->kinds[i].count, "frame",
                                                  (json_int_t)u->kinds[i].frame));
    return list;
}

static json_t *json_requests(const struct checked_requests *q)
{
    return json_pack("{si si si si si si}", "sent", q->sent, "first_try", q->first_try, "late",
                     q->late, "never", q->never, "packets", q->packets, "lost", q->lost);
}

static json_t *json_times(const struct checked_times *t)
{
    return json_pack("{sI sI sI sI}", "count", (json_int_t)t->n, "min_us", (json_int_t)t->least,
                     "median_us", (json_int_t)t->median, "p99_us", (json_int_t)t->p99);
}

static void add_times(json_t *o, const char *name, const struct checked_times *t)
{
    if (t->n)
        json_object_set_new(o, name, json_times(t));
}

static void add_sa(json_t *o, const struct checked *j)
{
    if (!j->sa_times.n && !j->sa_unanswered && !j->sa_busy)
        return;
    json_t *sa = json_pack("{sI sI}", "unanswered", (json_int_t)j->sa_unanswered, "busy",
                           (json_int_t)j->sa_busy);
    add_times(sa, "times", &j->sa_times);
    json_object_set_new(o, "sa", sa);
}

static void add_swept(json_t *o, const struct swept *s)
{
    json_t *changes = s ? swept_json_changes(s) : NULL;
    if (s)
        json_object_set_new(o, "hosts", swept_json_hosts(s));
    if (changes)
        json_object_set_new(o, "baseline", changes);
}

json_t *report_json_capture(const struct report *r, const struct checked *j)
{
    struct verdict_summary s = checked_summary(r, j);
    json_t *o = json_pack("{ss ss sI sI}", "name", j->name, "verdict", status_name(s.status),
                          r->probed ? "packets" : "frames", (json_int_t)checked_frames(j),
                          r->probed ? "answers" : "ipoib_frames",
                          (json_int_t)checked_ipoib_frames(j));
    json_object_set_new(o, "rules",
                        json_pack("{si si si si si si}", "must_violated", s.must, "should_violated",
                                  s.should, "deviation", s.deviated, "inconclusive", s.inconclusive,
                                  "noted", s.noted, "passed", s.passed));
    add_counts(json_object_get(o, "rules"), r, &s);
    bool why_not = s.status == VERDICT_UNJUDGED || j->trouble;
    json_object_set_new(o, "error", why_not ? json_string(checked_why_not(r, j)) : json_null());
    json_object_set_new(o, "undone", json_undone(j));
    if (!r->probed)
        json_object_set_new(o, "unseen", json_unseen(j));
    if (j->events)
        json_object_set_new(o, "events", json_events(j->events));
    if (j->requests.counted)
        json_object_set_new(o, "requests", json_requests(&j->requests));
    add_times(o, "over_ud", &j->over_ud);
    add_times(o, "over_rc", &j->over_rc);
    add_sa(o, j);
    add_swept(o, j->swept);
    return o;
}

static json_t *json_only(const struct report *r)
{
    json_t *list = json_array();
    for (const char *const *s = r->only; s && *s; s++)
        json_array_append_new(list, json_string(*s));
    return list;
}

/* NULL if no rule is required. */
static json_t *json_required(const struct report *r)
{
    json_t *list = r->required ? json_array() : NULL;
    for (guint i = 0; list && i < r->required->len; i++) {
        const struct required *one = &g_array_index(r->required, struct required, i);
        json_array_append_new(list, json_pack("{ss sb ss?}", "selector", one->selector, "judged",
                                              !one->why, "why", one->why));
    }
    return list;
}

/* NULL if no number is required. */
static json_t *json_min_judged(const struct report *r)
{
    return r->min_judged ? json_integer(r->min_judged) : NULL;
}

json_t *report_json_totals(const struct report *r)
{
    return json_pack("{ss si si si si si sb ss so ss* so* so* ss*}", "verdict",
                     status_name(report_status(r)), "exit_status", report_exit_status(r),
                     "violated", report_count(r, VERDICT_VIOLATED), "unjudged",
                     report_count(r, VERDICT_UNJUDGED), "conformant",
                     report_count(r, VERDICT_CONFORMANT), "no_violation_proved", report_partial(r),
                     "strict", r->strict, "deviations", r->deviations, "only", json_only(r),
                     "baseline", r->baseline, "required", json_required(r), "min_judged",
                     json_min_judged(r), "fail_on", r->fail_on_suspected ? "suspected" : NULL);
}

static json_t *json_summary(const struct report *r)
{
    json_t *captures = json_array(), *o = report_json_totals(r);
    for (unsigned i = 0; i < r->n; i++)
        json_array_append_new(captures, report_json_capture(r, &r->captures[i]));
    json_object_set_new(o, r->probed ? "targets" : "captures", captures);
    return o;
}

/* The results of one capture or target, indented as in the whole report. */
static GString *json_part(const struct report *r, const struct checked *j,
                          struct written_so_far *written)
{
    json_t *results = report_json_results(r, j), *result;
    GString *out = g_string_new(NULL);
    size_t i;
    json_array_foreach(results, i, result)
    {
        char *text = json_dumps(result, JSON_INDENT(1)), **lines = g_strsplit(text, "\n", -1),
             *moved = g_strjoinv("\n  ", lines);
        g_string_append_printf(out, "%s\n  %s", written->tests++ ? "," : "", moved);
        g_free(moved);
        g_strfreev(lines);
        free(text);
    }
    written->captures++;
    json_decref(results);
    return out;
}

/*
 * The report without results. It is split at the empty array "results": the head ends after the
 * opening bracket, the tail starts with the closing one.
 */
static char *json_frame(const struct report *r)
{
    char several[32];
    g_snprintf(several, sizeof several, "%u %s", r->n, r->probed ? "targets" : "captures");
    json_t *whole = json_pack("{ss ss ss* ss s[] so}", "tool", r->tool, "version", r->version,
                              "node", r->node, "subject", r->n == 1 ? r->captures[0].name : several,
                              "results", "summary", json_summary(r));
    char *text = json_dumps(whole, JSON_INDENT(1));
    json_decref(whole);
    return text;
}

/* A JSON string cannot contain a line end, so this matches only the member. */
static const char results_member[] = "\n \"results\": [";

static GString *json_head(const struct report *r, const struct written_so_far *written)
{
    (void)written;
    char *frame = json_frame(r);
    GString *out = g_string_new_len(frame, strstr(frame, results_member) + sizeof results_member -
                                               1 - frame);
    free(frame);
    return out;
}

static GString *json_tail(const struct report *r)
{
    char *frame = json_frame(r);
    GString *out = g_string_new("\n ");
    g_string_append(out, strstr(frame, results_member) + sizeof results_member - 1);
    g_string_append_c(out, '\n');
    free(frame);
    return out;
}

const struct report_parts report_parts_json = {json_head, json_part, json_tail};
