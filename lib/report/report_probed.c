/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text report of a probe's target in full: a line for each stage and rule, and details of those
 * that did not pass. report_screen.c has the short form.
 */
#include "report/report_text.h"

#include <string.h>

#include "report/swept.h"
#include "report/words.h"
#include "report/wrap.h"

/* Number of consecutive stages from this one that did not run for the same reason. */
static guint not_run_from(const struct text *t, guint first)
{
    const GPtrArray *all = t->checked->stages;
    guint n = 0;
    for (guint i = first; t->of_fabric && i < all->len; i++, n++) {
        const struct stage *s = all->pdata[i];
        if (s->outcome != (int)VERDICT_SKIPPED ||
            strcmp(s->text, ((const struct stage *)all->pdata[first])->text) != 0)
            break;
    }
    return n;
}

static void put_stages(const struct text *t)
{
    for (guint i = 0; t->checked->stages && i < t->checked->stages->len; i++) {
        const struct stage *s = t->checked->stages->pdata[i];
        guint not_run = not_run_from(t, i);
        if (not_run > 1) {
            text_put_outcome(t, s->outcome);
            g_string_append_printf(t->out, "%u stages not run: %s\n", not_run, s->text);
            i += not_run - 1;
            continue;
        }
        text_put_stage_outcome(t, s);
        g_string_append_printf(t->out, "%s  %s\n", s->id, s->text);
        if (s->advice[0])
            g_string_append_printf(t->out, "                  -> %s\n", s->advice);
    }
}

static void put_line(GString *out, const char *name, const char *text)
{
    if (text[0])
        g_string_append_printf(out, "                  %-9s %s\n", name, text);
}

static void put_evidence(const struct text *t, const struct verdict_case *c)
{
    put_line(t->out, "sent", c->sent);
    put_line(t->out, "expected", c->expected);
    put_line(t->out, "found", c->actual);
    put_line(t->out, "came", c->received);
    put_line(t->out, "reason", c->reason);
}

static void put_probed_rule(const struct text *t, enum rule_number rule, int worst)
{
    const struct verdict_result *r = verdict_result(t->checked->verdict, rule, (enum outcome)worst);
    text_put_outcome(t, worst);
    g_string_append(t->out, rules[rule].id);
    if (rules[rule].level != RULE_MUST)
        g_string_append_printf(t->out, " (%s)", rule_level_name(rules[rule].level));
    bool explained = worst == OUTCOME_FAIL || worst == OUTCOME_DEVIATION ||
                     worst == OUTCOME_INCONCLUSIVE;
    const char *words = r && r->n_cases ? r->cases[0].actual : "";
    if (!explained && words[0])
        g_string_append_printf(t->out, "  %s", words);
    g_string_append_c(t->out, '\n');
    for (unsigned i = 0; explained && r && i < r->n_cases; i++)
        put_evidence(t, &r->cases[i]);
    const char *advice = worst == OUTCOME_FAIL && t->report->advice ? t->report->advice(rule)
                                                                    : NULL;
    if (advice)
        g_string_append_printf(t->out, "                  -> %s\n", advice);
    if (worst == OUTCOME_FAIL)
        text_put_help(t, rule, "                  ");
}

static void put_rules(const struct text *t)
{
    for (size_t i = 0; i < RULE_COUNT; i++) {
        int worst = verdict_worst(t->checked->verdict, (enum rule_number)i);
        if (worst >= 0)
            put_probed_rule(t, (enum rule_number)i, worst);
    }
}

static void put_cause(const struct text *t, const char *text, const char *advice)
{
    enum { INDENT = 2, ADVICE = 5 };
    char *cause = g_strdup_printf("%s: %s", t->checked->name, text);
    wrap_words(t->out, cause, 0, INDENT);
    g_free(cause);
    if (!advice[0])
        return;
    g_string_append(t->out, "  -> ");
    wrap_commands(t->out, advice, ADVICE, ADVICE);
}

/* What failed or has no result; if nothing, that the target replies. */
static void put_causes(const struct text *t)
{
    unsigned n = 0;
    for (guint i = 0; t->checked->stages && i < t->checked->stages->len; i++) {
        const struct stage *s = t->checked->stages->pdata[i];
        if (s->outcome != OUTCOME_FAIL && s->outcome != OUTCOME_INCONCLUSIVE)
            continue;
        put_cause(t, s->text, s->advice);
        n++;
    }
    if (n == 0)
        put_cause(t, t->checked->trouble ? t->checked->trouble : "it replies", "");
}

/* A diagnosis of this host: its verdict is OK or FAULT. */
static bool is_of_fabric(const struct checked *j)
{
    const char *first = j->stages && j->stages->len > 0
                            ? ((const struct stage *)j->stages->pdata[0])->id
                            : "";
    return g_str_has_prefix(first, "fabric.") || g_str_has_prefix(first, "node.");
}

static void put_target(const struct text *t)
{
    bool all = t->report->verbose && t->of_fabric;
    if (t->checked->brief && !all) {
        text_put_brief(t);
    } else if (!t->report->verbose) {
        text_put_screen(t);
    } else {
        text_put_headline(t);
        put_stages(t);
        put_rules(t);
        text_put_verdict(t);
    }
}

/* Of a prefix: which addresses reply. */
static void put_answers(const struct text *t)
{
    for (guint i = 0; i < t->checked->stages->len; i++)
        put_cause(t, ((const struct stage *)t->checked->stages->pdata[i])->text, "");
}

void report_text_probed(GString *out, const struct report *r, const struct checked *j, bool colours)
{
    struct text t = {out, r, j, colours, is_of_fabric(j)};
    if (r->causes_only) {
        put_causes(&t);
        return;
    }
    if (j->sweep && !j->trouble) {
        put_answers(&t);
        if (j->swept)
            swept_text(out, j->swept, r->verbose);
        return;
    }
    if (j->listed && !r->verbose && checked_summary(r, j).status == VERDICT_CONFORMANT)
        return;
    put_target(&t);
    if (j->sweep && j->brief && j->swept && j->swept->hosts->len)
        put_answers(&t);
    if (j->swept)
        swept_text(out, j->swept, r->verbose);
}
