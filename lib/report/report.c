/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

#include "analysis/event_table.h"
#include "cli/plain.h"
#include "report/required.h"
#include "report/swept.h"
#include "report/words.h"

static void stage_free(gpointer stage)
{
    struct stage *s = stage;
    g_free(s->id);
    g_free(s->text);
    g_free(s->advice);
    g_free(s);
}

static void undone_stage_free(gpointer undone)
{
    struct undone_stage *u = undone;
    g_free(u->stage);
    g_free(u->text);
    g_free(u);
}

static void add_undone(struct checked *j, const char *code, const struct stage *s)
{
    if (!j->undone)
        j->undone = g_ptr_array_new_with_free_func(undone_stage_free);
    struct undone_stage *u = g_new0(struct undone_stage, 1);
    *u = (struct undone_stage){code, g_strdup(s->id), g_strdup(s->text)};
    g_ptr_array_add(j->undone, u);
}

void checked_add_stage(struct checked *j, const char *id, int outcome, const char *text,
                       const char *advice)
{
    if (!j->stages)
        j->stages = g_ptr_array_new_with_free_func(stage_free);
    struct stage *s = g_new0(struct stage, 1);
    s->id = g_strdup(id);
    s->outcome = outcome;
    s->text = plain_dup(text);
    s->advice = plain_dup(advice);
    g_ptr_array_add(j->stages, s);
    if (outcome == OUTCOME_INCONCLUSIVE)
        add_undone(j, "no-result", s);
}

void checked_add_stage_without(struct checked *j, const char *id, const char *missing)
{
    checked_add_stage(j, id, VERDICT_SKIPPED, missing, "");
    add_undone(j, "not-run", j->stages->pdata[j->stages->len - 1]);
}

void checked_add_stage_not_run(struct checked *j, const char *id, const struct stage *cause)
{
    bool failed = cause->outcome == OUTCOME_FAIL;
    char *text = g_strdup_printf(failed ? "%s failed" : "%s had no result", cause->id);
    if (failed)
        checked_add_stage(j, id, VERDICT_SKIPPED, text, "");
    else
        checked_add_stage_without(j, id, text);
    g_free(text);
}

static void append_text(struct stage *s, const char *text)
{
    char *all = g_strdup_printf("%s; %s", s->text, text);
    g_free(s->text);
    s->text = plain_dup(all);
    g_free(all);
}

static struct stage *find_stage(const struct checked *j, const char *id, bool inconclusive_too)
{
    for (guint i = 0; j->stages && i < j->stages->len; i++) {
        struct stage *s = j->stages->pdata[i];
        if (g_str_equal(s->id, id) && (s->outcome == OUTCOME_FAIL ||
                                       (inconclusive_too && s->outcome == OUTCOME_INCONCLUSIVE)))
            return s;
    }
    return NULL;
}

void checked_doubt_stage(struct checked *j, const char *id, const char *reason)
{
    struct stage *s = find_stage(j, id, false);
    if (!s)
        return;
    append_text(s, reason);
    s->outcome = OUTCOME_INCONCLUSIVE;
    add_undone(j, "no-result", s);
}

void checked_follow_stage(struct checked *j, const char *id, const char *cause)
{
    struct stage *s = find_stage(j, id, false);
    if (!s || !find_stage(j, cause, true))
        return;
    g_free(s->text); /* it may name another cause */
    s->text = g_strdup_printf("a consequence of %s", cause);
    s->outcome = VERDICT_SKIPPED;
}

void checked_advise_stage(struct checked *j, const char *id, const char *advice)
{
    struct stage *s = find_stage(j, id, false);
    if (!s)
        return;
    g_free(s->advice);
    s->advice = g_strdup(advice);
}

void checked_withhold_stage(struct checked *j, const char *text)
{
    struct stage *s = j->stages->pdata[j->stages->len - 1];
    bool counted = s->outcome == OUTCOME_FAIL || s->outcome == OUTCOME_INCONCLUSIVE;
    append_text(s, text);
    if (counted)
        return;
    s->outcome = OUTCOME_INCONCLUSIVE;
    add_undone(j, "no-result", s);
}

static void forget_undone(struct checked *j, const struct stage *s)
{
    for (guint i = j->undone ? j->undone->len : 0; i-- > 0;)
        if (g_str_equal(((const struct undone_stage *)j->undone->pdata[i])->stage, s->id))
            g_ptr_array_remove_index(j->undone, i);
    if (j->undone && j->undone->len == 0)
        g_clear_pointer(&j->undone, g_ptr_array_unref);
}

void checked_keep_stages(struct checked *j, checked_keep *keep, const void *user)
{
    for (guint i = j->stages ? j->stages->len : 0; i-- > 0;) {
        const struct stage *s = j->stages->pdata[i];
        if (keep(s, user))
            continue;
        forget_undone(j, s);
        g_ptr_array_remove_index(j->stages, i);
    }
}

unsigned checked_failed_stages(const struct checked *j)
{
    unsigned n = 0;
    for (guint i = 0; j->stages && i < j->stages->len; i++)
        n += ((const struct stage *)j->stages->pdata[i])->outcome == OUTCOME_FAIL;
    return n;
}

void checked_clear(struct checked *j)
{
    g_free(j->name);
    g_free(j->trouble);
    g_free(j->remark);
    verdict_free(j->verdict);
    event_table_free(j->events);
    swept_free(j->swept);
    if (j->stages)
        g_ptr_array_unref(j->stages);
    if (j->undone)
        g_ptr_array_unref(j->undone);
}

void checked_close(const struct report *r, struct checked *j)
{
    j->sum.summary = checked_summary(r, j);
    j->sum.frames = verdict_frames(j->verdict);
    j->sum.ipoib_frames = verdict_ipoib_frames(j->verdict);
    verdict_free(j->verdict);
    j->verdict = NULL;
    if (j->stages)
        g_ptr_array_unref(j->stages);
    j->stages = NULL;
    j->closed = true;
}

uint64_t checked_frames(const struct checked *j)
{
    return j->closed ? j->sum.frames : verdict_frames(j->verdict);
}

uint64_t checked_ipoib_frames(const struct checked *j)
{
    return j->closed ? j->sum.ipoib_frames : verdict_ipoib_frames(j->verdict);
}

/* Has a stage of --only a result? */
static bool only_stage(const struct report *r, const struct checked *j)
{
    for (guint i = 0; j->stages && i < j->stages->len; i++) {
        const struct stage *s = j->stages->pdata[i];
        bool result = s->outcome == OUTCOME_PASS || s->outcome == OUTCOME_FAIL ||
                      s->outcome == OUTCOME_NOTED;
        for (const char *const *only = r->only; result && only && *only; only++)
            if (id_selected(s->id, *only))
                return true;
    }
    return false;
}

/*
 * Has --only selected no rule or stage that was judged? A prefix of a sweep has no rules itself.
 */
static bool only_nothing(const struct report *r, const struct checked *j,
                         const struct verdict_summary *s)
{
    bool selects = r->probed && r->only && r->only[0] && !j->sweep;
    return selects && !s->must && !s->should && !s->known && !s->deviated && !s->noted &&
           !s->passed && !only_stage(r, j);
}

struct verdict_summary checked_summary(const struct report *r, const struct checked *j)
{
    if (j->closed)
        return j->sum.summary;
    struct verdict_summary s = r->probed ? verdict_summarize(j->verdict, r->strict)
                                         : verdict_summarize_capture(j->verdict, r->strict);
    /* a stage of --only may need no packet */
    if (r->probed && !s.inconclusive && s.status == VERDICT_UNJUDGED && only_stage(r, j))
        s.status = VERDICT_CONFORMANT;
    bool withheld = j->trouble || j->undone || only_nothing(r, j, &s);
    if (withheld && s.status == VERDICT_CONFORMANT)
        s.status = VERDICT_UNJUDGED;
    if (checked_failed_stages(j) > 0)
        s.status = VERDICT_VIOLATED;
    return s;
}

unsigned report_count(const struct report *r, enum verdict_status status)
{
    unsigned n = 0;
    for (unsigned i = 0; i < r->n; i++)
        n += checked_summary(r, &r->captures[i]).status == status &&
             !(status == VERDICT_CONFORMANT && r->captures[i].sweep);
    return n;
}

bool checked_is_partial(const struct report *r, const struct checked *j)
{
    struct verdict_summary s = checked_summary(r, j);
    return !r->probed && verdict_is_partial(&s);
}

unsigned report_partial(const struct report *r)
{
    unsigned n = 0;
    for (unsigned i = 0; i < r->n; i++)
        n += checked_is_partial(r, &r->captures[i]);
    return n;
}

bool checked_judges_too_few(const struct report *r, const struct checked *j)
{
    return checked_summary(r, j).judged < r->min_judged;
}

enum verdict_status report_status(const struct report *r)
{
    if (report_count(r, VERDICT_VIOLATED))
        return VERDICT_VIOLATED;
    bool unjudged = report_count(r, VERDICT_UNJUDGED) > 0 || required_missing(r->required) > 0;
    for (unsigned i = 0; i < r->n; i++)
        unjudged |= checked_judges_too_few(r, &r->captures[i]);
    return unjudged ? VERDICT_UNJUDGED : VERDICT_CONFORMANT;
}

int exit_status_of(enum verdict_status status)
{
    static const int exits[] = {[VERDICT_CONFORMANT] = EXIT_CONFORMANT,
                                [VERDICT_VIOLATED] = EXIT_VIOLATED,
                                [VERDICT_UNJUDGED] = EXIT_UNJUDGED};
    return exits[status];
}

bool report_fails(const struct report *r, enum rule_number rule, int worst)
{
    return (worst == OUTCOME_FAIL && verdict_counts(rule, r->strict)) ||
           (worst == OUTCOME_SUSPECTED && r->fail_on_suspected);
}

bool checked_fails_on_suspected(const struct report *r, const struct checked *j)
{
    return r->fail_on_suspected && checked_summary(r, j).suspected > 0;
}

int report_exit_status(const struct report *r)
{
    for (unsigned i = 0; i < r->n; i++)
        if (checked_fails_on_suspected(r, &r->captures[i]))
            return EXIT_VIOLATED;
    return exit_status_of(report_status(r));
}

/* The first stage without a result; if there is none, the first that did not run. */
static const struct undone_stage *first_undone(const struct checked *j)
{
    for (guint i = 0; i < j->undone->len; i++) {
        const struct undone_stage *u = j->undone->pdata[i];
        if (g_str_equal(u->code, "no-result"))
            return u;
    }
    return j->undone->pdata[0];
}

const char *checked_why_not(const struct report *r, const struct checked *j)
{
    if (j->trouble)
        return j->trouble;
    if (j->undone)
        return first_undone(j)->text;
    struct verdict_summary s = checked_summary(r, j);
    if (r->probed && !checked_ipoib_frames(j))
        return "no reply";
    if (r->probed)
        return only_nothing(r, j, &s)
                   ? "nothing was judged: no rule or stage of --only had a result"
                   : "no check had a result";
    return verdict_why_not(&s, checked_ipoib_frames(j));
}

bool checked_tests(const struct report *r, const struct checked *j, enum rule_number rule)
{
    enum rule_level level = rules[rule].level;
    if (r->probed)
        return (level == RULE_MUST || level == RULE_SHOULD) && verdict_worst(j->verdict, rule) >= 0;
    return verdict_ipoib_frames(j->verdict) > 0 && verdict_selected(j->verdict, rule) &&
           rule_in_capture(&rules[rule]) && (level == RULE_MUST || level == RULE_SHOULD);
}

const struct verdict_result *checked_undecided(const struct checked *j, enum rule_number rule)
{
    if (verdict_worst(j->verdict, rule) == OUTCOME_INCONCLUSIVE)
        return NULL;
    return verdict_result(j->verdict, rule, OUTCOME_INCONCLUSIVE);
}

bool checked_wholly(const struct report *r, const struct checked *j)
{
    struct verdict_summary s = checked_summary(r, j);
    return !j->trouble && !s.undone && s.status != VERDICT_UNJUDGED;
}

GString *report_whole(const struct report_parts *parts, const struct report *r)
{
    struct written_so_far written = {0};
    GString *middle = g_string_new(NULL);
    for (unsigned i = 0; i < r->n; i++) {
        GString *part = parts->part(r, &r->captures[i], &written);
        g_string_append_len(middle, part->str, (gssize)part->len);
        g_string_free(part, TRUE);
    }
    GString *whole = parts->head(r, &written), *tail = parts->tail(r);
    g_string_append_len(whole, middle->str, (gssize)middle->len);
    g_string_append_len(whole, tail->str, (gssize)tail->len);
    g_string_free(middle, TRUE);
    g_string_free(tail, TRUE);
    return whole;
}
