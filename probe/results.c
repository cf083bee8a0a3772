/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comes of the checks of one target. See results.h. */
#include "probe/results.h"

#include <stdarg.h>

#include "cli/plain.h"
#include "report/words.h"

void results_begin(struct results *r, const char *check)
{
    r->check = check;
    r->sent[0] = r->came[0] = '\0';
    r->any = false;
}

static void vput(char *out, const char *format, va_list args)
{
    char *text = g_strdup_vprintf(format, args);
    plain_text(text, out, VERDICT_TEXT);
    g_free(text);
}

void results_sent(struct results *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vput(r->sent, format, args);
    va_end(args);
}

void results_came(struct results *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vput(r->came, format, args);
    va_end(args);
}

/* Worst first: fail, deviation, inconclusive, pass. */
static int weight(enum outcome o)
{
    return o == OUTCOME_FAIL ? 3 : o == OUTCOME_DEVIATION ? 2 : o == OUTCOME_INCONCLUSIVE ? 1 : 0;
}

static void add(struct results *r, const struct finding *f)
{
    const struct verdict_evidence evidence = {r->check, r->sent, r->came};
    if (!r->any || weight(f->outcome) > weight(r->worst))
        r->worst = f->outcome;
    r->any = true;
    verdict_add_evidence(r->judged->verdict, f, &evidence);
}

void results_add(struct results *r, enum rule_number rule, enum outcome outcome,
                 const char *expected, const char *actual)
{
    struct finding f = {.rule = rule,
                        .outcome = outcome,
                        .expected = expected,
                        .actual = actual,
                        .subject = "",
                        .reason = ""};
    const struct failure failure = {rule, expected, actual, ""};
    const char *reason = outcome == OUTCOME_FAIL ? deviations_reason(r->known, &failure) : NULL;
    if (reason) {
        f.outcome = OUTCOME_DEVIATION;
        f.reason = reason;
    }
    add(r, &f);
}

void results_skip(struct results *r, enum rule_number rule, const char *why)
{
    const struct verdict_evidence evidence = {r->check, r->sent, ""};
    verdict_skip(r->judged->verdict, rule, why, &evidence);
}

void results_judged(void *user, uint32_t frame, const struct finding *f)
{
    struct results *r = user;
    (void)frame;
    if (f->outcome == OUTCOME_INCONCLUSIVE)
        return;
    const char *check = r->check;
    r->check = "answers";
    add(r, f);
    r->check = check;
}

void results_stage(struct results *r, const char *id, int outcome, const char *advice,
                   const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    judged_add_stage(r->judged, id, outcome, text, advice);
    g_free(text);
}

const char *results_outcome(const struct results *r)
{
    return r->any ? outcome_name(r->worst) : outcome_name((enum outcome)VERDICT_SKIPPED);
}
