/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a report tells, whatever its format. See report.h. */
#include "verdict/report.h"

#include "verdict/plain.h"

static void stage_free(gpointer stage)
{
    struct stage *s = stage;
    g_free(s->id);
    g_free(s->text);
    g_free(s->advice);
    g_free(s);
}

void judged_add_stage(struct judged *j, const char *id, int outcome, const char *text, const char *advice)
{
    if (!j->stages)
        j->stages = g_ptr_array_new_with_free_func(stage_free);
    struct stage *s = g_new0(struct stage, 1);
    s->id = g_strdup(id);
    s->outcome = outcome;
    s->text = plain_dup(text);
    s->advice = plain_dup(advice);
    g_ptr_array_add(j->stages, s);
}

static bool stage_failed(const struct judged *j)
{
    for (guint i = 0; j->stages && i < j->stages->len; i++)
        if (((const struct stage *)j->stages->pdata[i])->outcome == OUTCOME_FAIL)
            return true;
    return false;
}

struct verdict_summary judged_summary(const struct report *r, const struct judged *j)
{
    struct verdict_summary s = verdict_summarize(j->verdict, r->strict);
    if (j->trouble && s.status == VERDICT_CONFORMANT)
        s.status = VERDICT_UNJUDGED;
    if (stage_failed(j))
        s.status = VERDICT_VIOLATED;
    return s;
}

unsigned report_count(const struct report *r, enum verdict_status status)
{
    unsigned n = 0;
    for (unsigned i = 0; i < r->n; i++)
        n += judged_summary(r, &r->captures[i]).status == status;
    return n;
}

enum verdict_status report_status(const struct report *r)
{
    if (report_count(r, VERDICT_VIOLATED))
        return VERDICT_VIOLATED;
    return report_count(r, VERDICT_UNJUDGED) ? VERDICT_UNJUDGED : VERDICT_CONFORMANT;
}

int report_exit_status(const struct report *r)
{
    static const int exits[] = {
        [VERDICT_CONFORMANT] = EXIT_CONFORMANT, [VERDICT_VIOLATED] = EXIT_VIOLATED, [VERDICT_UNJUDGED] = EXIT_UNJUDGED};
    return exits[report_status(r)];
}

const char *judged_why_not(const struct report *r, const struct judged *j)
{
    if (j->trouble)
        return j->trouble;
    if (r->probed)
        return verdict_ipoib_frames(j->verdict) ? "no check came to a result" : "no answer";
    return verdict_ipoib_frames(j->verdict) ? "all that was to be judged is inconclusive" : "there is no IPoIB in it";
}

bool judged_tests(const struct report *r, const struct judged *j, enum rule_number rule)
{
    enum rule_level level = rules[rule].level;
    if (r->probed)
        return (level == RULE_MUST || level == RULE_SHOULD) && verdict_worst(j->verdict, rule) >= 0;
    return verdict_ipoib_frames(j->verdict) > 0 && verdict_selected(j->verdict, rule) && rule_in_capture(&rules[rule]) &&
           (level == RULE_MUST || level == RULE_SHOULD);
}

bool judged_wholly(const struct report *r, const struct judged *j)
{
    return !j->trouble && judged_summary(r, j).status != VERDICT_UNJUDGED;
}
