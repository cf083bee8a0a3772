/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict of the text report: one line. */
#include <string.h>

#include "report/report_text.h"
#include "report/words.h"
#include "rules/deviation.h"

static void put_part(GString *out, bool *first, unsigned n, const char *one, const char *many)
{
    if (n == 0)
        return;
    g_string_append_printf(out, "%s%u %s", *first ? "" : ", ", n, n == 1 ? one : many);
    *first = false;
}

/* Appends the names of the implementations whose known deviations are counted. */
static void put_implementations(const struct text *t)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (size_t rule = 0; rule < RULE_COUNT; rule++) {
        const struct verdict *v = t->checked->verdict;
        const struct verdict_result *r = verdict_result(v, (enum rule_number)rule,
                                                        OUTCOME_DEVIATION);
        bool counts = verdict_worst(v, (enum rule_number)rule) == OUTCOME_DEVIATION;
        for (unsigned i = 0; counts && r && i < r->n_cases; i++) {
            char *name = deviation_implementation(r->cases[i].reason);
            if (name && !g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
                g_ptr_array_add(names, name);
            else
                g_free(name);
        }
    }
    for (guint i = 0; i < names->len; i++)
        g_string_append_printf(t->out, "%s%s",
                               i == 0                ? " of "
                               : i == names->len - 1 ? " and "
                                                     : ", ",
                               (char *)names->pdata[i]);
    g_ptr_array_unref(names);
}

static void put_summary_counts(const struct text *t, const struct verdict_summary *s)
{
    GString *out = t->out;
    bool first = true;
    if (!t->report->probed && s->unseen && s->status == VERDICT_CONFORMANT) {
        words_add_unseen(out, verdict_unseen(t->checked->verdict), false);
        first = false;
    }
    put_part(out, &first, checked_failed_stages(t->checked), "stage failed", "stages failed");
    put_part(out, &first, s->must, "MUST violated", "MUSTs violated");
    put_part(out, &first, s->should, "SHOULD violated", "SHOULDs violated");
    put_part(out, &first, s->known, "violation known from the baseline",
             "violations known from the baseline");
    put_part(out, &first, s->deviated, "known deviation", "known deviations");
    if (s->deviated)
        put_implementations(t);
    if (t->report->probed) /* the screen lists stages that are noted */
        put_part(out, &first, s->noted, "rule noted", "rules noted");
    else
        put_part(out, &first, s->noted, "note", "notes");
    put_part(out, &first, s->inconclusive, "rule inconclusive", "rules inconclusive");
    put_part(out, &first, s->skipped, "rule skipped", "rules skipped");
    put_part(out, &first, s->passed, "rule passed", "rules passed");
    if (first)
        g_string_append(out, t->report->probed && t->checked->stages ? "no stage failed"
                                                                     : "no rule applied");
}

/* The stage that the report shows and whose text has the reason, or is its end; NULL: none. */
static const struct stage *stage_that_says(const struct text *t, const char *why)
{
    const GPtrArray *all = t->checked->stages;
    for (guint i = 0; all && i < all->len; i++) {
        const struct stage *s = all->pdata[i];
        bool shown = (s->outcome == OUTCOME_FAIL || s->outcome == OUTCOME_INCONCLUSIVE) &&
                     text_shows_stage(t, s);
        if (shown && s->text[0] && (strstr(s->text, why) || g_str_has_suffix(why, s->text)))
            return s;
    }
    return NULL;
}

/* Why there is no verdict. What a stage above says is not repeated. */
static void put_why_not(const struct text *t)
{
    const char *why = checked_why_not(t->report, t->checked);
    const struct stage *s = stage_that_says(t, why);
    size_t before = s && strlen(why) > strlen(s->text) ? strlen(why) - strlen(s->text) : 0;
    while (before && strchr(": ", why[before - 1]))
        before--;
    if (before)
        g_string_append_len(t->out, why, (gssize)before);
    else if (s && s->outcome == OUTCOME_FAIL)
        g_string_append_printf(t->out, "%s failed", s->id);
    else if (s)
        g_string_append_printf(t->out, "see %s", s->id);
    else
        g_string_append(t->out, why);
}

/* Is what fails only a stage? Then no requirement is violated. */
static bool is_fault(const struct text *t, const struct verdict_summary *s)
{
    bool stages = t->report->probed && checked_failed_stages(t->checked) > 0;
    return stages && !s->must && !(t->report->strict && s->should);
}

static void put_status(const struct text *t, const struct verdict_summary *s)
{
    static const struct {
        enum colour colour;
        const char *words, *of_fabric;
    } shown[] = {
        [VERDICT_CONFORMANT] = {GREEN, "CONFORMANT", "OK"},
        [VERDICT_VIOLATED] = {RED, "VIOLATED", "FAULT"},
        [VERDICT_UNJUDGED] = {RED, "NOT JUDGED", "NOT JUDGED"},
    };
    bool partial = !t->report->probed && verdict_is_partial(s);
    text_put_coloured(t, partial ? YELLOW : shown[s->status].colour,
                      partial                                           ? "NO VIOLATION PROVED"
                      : t->of_fabric                                    ? shown[s->status].of_fabric
                      : s->status == VERDICT_VIOLATED && is_fault(t, s) ? shown[s->status].of_fabric
                                                                        : shown[s->status].words);
    if (s->suspected)
        g_string_append_printf(t->out, ", %u SUSPECTED", s->suspected);
    if (s->status == VERDICT_CONFORMANT)
        text_put_events_names(t);
    g_string_append(t->out, ": ");
}

/* What was judged comes first, then what it means. */
void text_put_verdict(const struct text *t)
{
    struct verdict_summary s = checked_summary(t->report, t->checked);
    g_string_append_printf(t->out, "%s%s: ", t->checked->brief ? "" : "\n", t->checked->name);
    if (!t->report->probed && checked_ipoib_frames(t->checked)) {
        words_add_judged(t->out, &s, t->report->strict);
        g_string_append(t->out, ": ");
    }
    put_status(t, &s);
    if (s.status == VERDICT_UNJUDGED)
        put_why_not(t);
    else
        put_summary_counts(t, &s);
    if (s.status != VERDICT_CONFORMANT)
        text_put_events_count(t);
    if (s.status != VERDICT_UNJUDGED && t->checked->remark)
        g_string_append_printf(t->out, "; %s", t->checked->remark);
    if (s.status == VERDICT_VIOLATED && t->checked->trouble &&
        !stage_that_says(t, t->checked->trouble))
        g_string_append_printf(t->out, "; and not checked to its end: %s", t->checked->trouble);
    if (s.status == VERDICT_VIOLATED && s.undone)
        g_string_append_printf(t->out, "; %s", s.undone);
    g_string_append_c(t->out, '\n');
}
