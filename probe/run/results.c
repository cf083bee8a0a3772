/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of the checks of one target. See results.h. */
#include "probe/run/results.h"

#include <stdarg.h>

#include "cli/plain.h"
#include "probe/run/options.h"
#include "probe/run/times.h"
#include "report/words.h"

void results_begin(struct results *r, const char *check)
{
    r->check = check;
    r->sent[0] = r->received[0] = '\0';
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

void results_received(struct results *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vput(r->received, format, args);
    va_end(args);
}

void results_show(struct results *r, const char *sent, const char *received)
{
    results_sent(r, "%s", sent);
    results_received(r, "%s", received);
}

/* Worst first: fail, deviation, inconclusive, pass. */
static int weight(enum outcome o)
{
    return o == OUTCOME_FAIL ? 3 : o == OUTCOME_DEVIATION ? 2 : o == OUTCOME_INCONCLUSIVE ? 1 : 0;
}

/* A finding with copies of its texts. */
struct held {
    struct finding f;
    char *expected, *actual, *entity, *reason, *check, *sent, *received;
    uint16_t lid;
    uint32_t qpn;
};

static void deferred_free(gpointer user)
{
    struct held *h = user;
    char *texts[] = {h->expected, h->actual, h->entity, h->reason, h->check, h->sent, h->received};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    g_free(h);
}

static void defer(struct results *r, const struct finding *f)
{
    struct held *h = g_new0(struct held, 1);
    *h = (struct held){.f = *f,
                       .expected = g_strdup(f->expected),
                       .actual = g_strdup(f->actual),
                       .entity = g_strdup(f->entity),
                       .reason = g_strdup(f->reason),
                       .check = g_strdup(r->check),
                       .sent = g_strdup(r->sent),
                       .received = g_strdup(r->received),
                       .lid = r->lid,
                       .qpn = r->qpn};
    h->f.expected = h->expected;
    h->f.actual = h->actual;
    h->f.entity = h->entity;
    h->f.reason = h->reason;
    h->f.sender = NULL;
    g_ptr_array_add(r->held, h);
}

static void add_with(struct results *r, const struct finding *f,
                     const struct verdict_evidence *evidence)
{
    if (!r->any || weight(f->outcome) > weight(r->worst))
        r->worst = f->outcome;
    r->any = true;
    verdict_add_evidence(r->checked->verdict, f, evidence);
}

static void add_finding(struct results *r, const struct finding *f)
{
    const struct verdict_evidence evidence = {r->check, r->sent, r->received};
    if (r->held)
        defer(r, f);
    else
        add_with(r, f, &evidence);
}

void results_hold(struct results *r)
{
    if (!r->held)
        r->held = g_ptr_array_new_with_free_func(deferred_free);
}

/*
 * A finding in a packet is about the packet's sender, so it is not affected if the peer changes
 * afterwards.
 */
static bool is_sure(const struct held *h)
{
    return h->lid != 0;
}

static bool is_doubted(const GPtrArray *held, enum rule_number rule)
{
    bool any = false;
    for (guint i = 0; i < held->len; i++) {
        const struct held *h = held->pdata[i];
        any |= !is_sure(h) && h->f.rule == rule && weight(h->f.outcome) > 0;
    }
    return any;
}

/* If a result of a rule is doubted, the rule's passes become inconclusive too. */
void results_release(struct results *r, const char *doubt)
{
    GPtrArray *held = r->held;
    r->held = NULL;
    for (guint i = 0; held && i < held->len; i++) {
        struct held *h = held->pdata[i];
        if (doubt && !is_sure(h) && is_doubted(held, h->f.rule)) {
            h->f.outcome = OUTCOME_INCONCLUSIVE;
            h->f.actual = doubt;
        }
        add_with(r, &h->f, &(struct verdict_evidence){h->check, h->sent, h->received});
    }
    if (held)
        g_ptr_array_unref(held);
}

void results_drop(struct results *r, results_keep *keep, void *user)
{
    for (guint i = r->held ? r->held->len : 0; i-- > 0;) {
        const struct held *h = r->held->pdata[i];
        if (!keep(user, h->lid, h->qpn))
            g_ptr_array_remove_index(r->held, i);
    }
}

bool results_holds(const struct results *r, enum outcome outcome)
{
    bool any = false;
    for (guint i = 0; r->held && i < r->held->len; i++) {
        const struct held *h = r->held->pdata[i];
        any |= !is_sure(h) && h->f.outcome == outcome;
    }
    return any;
}

uint64_t results_count(const struct results *r, enum rule_number rule, enum outcome outcome)
{
    uint64_t n = verdict_count(r->checked->verdict, rule, outcome);
    for (guint i = 0; r->held && i < r->held->len; i++) {
        const struct finding *f = &((const struct held *)r->held->pdata[i])->f;
        n += f->rule == rule && f->outcome == outcome;
    }
    return n;
}

void results_add(struct results *r, enum rule_number rule, enum outcome outcome,
                 const char *expected, const char *actual)
{
    results_add_connection(r, rule, outcome, expected, actual, "");
}

void results_add_connection(struct results *r, enum rule_number rule, enum outcome outcome,
                            const char *expected, const char *actual, const char *service_id)
{
    struct finding f = {.rule = rule,
                        .outcome = outcome,
                        .expected = expected,
                        .actual = actual,
                        .entity = "",
                        .reason = ""};
    const struct failure failure = {.rule = rule,
                                    .expected = expected,
                                    .actual = actual,
                                    .message = "",
                                    .service_id = service_id,
                                    .chaddr = "",
                                    .client_id = ""};
    const char *reason = outcome == OUTCOME_FAIL ? deviations_reason(r->known, &failure) : NULL;
    if (reason) {
        f.outcome = OUTCOME_DEVIATION;
        f.reason = reason;
    }
    add_finding(r, &f);
}

void results_add_number(struct results *r, enum rule_number rule, const char *expected,
                        const char *actual, const char *name, uint64_t value)
{
    char cause[CAUSE_TEXT], number[24];
    struct finding f = {.rule = rule,
                        .outcome = OUTCOME_FAIL,
                        .expected = expected,
                        .actual = actual,
                        .entity = "",
                        .reason = "",
                        .name = name,
                        .value = &value};
    g_snprintf(number, sizeof number, "%" G_GUINT64_FORMAT, value);
    const struct failure failure = {.rule = rule,
                                    .expected = expected,
                                    .actual = actual,
                                    .message = "",
                                    .service_id = "",
                                    .chaddr = "",
                                    .client_id = "",
                                    .cause = finding_cause(&f, cause),
                                    .value = number};
    const char *reason = deviations_reason(r->known, &failure);
    if (reason) {
        f.outcome = OUTCOME_DEVIATION;
        f.reason = reason;
    }
    if (r->held) /* it would outlive the number */
        f.value = NULL;
    add_finding(r, &f);
}

void results_add_sure(struct results *r, enum rule_number rule, enum outcome outcome,
                      const char *expected, const char *actual)
{
    GPtrArray *held = r->held;
    r->held = NULL;
    results_add(r, rule, outcome, expected, actual);
    r->held = held;
}

void results_skip(struct results *r, enum rule_number rule, const char *why)
{
    const struct verdict_evidence evidence = {r->check, r->sent, ""};
    verdict_skip(r->checked->verdict, rule, why, &evidence);
}

void results_checked(void *user, uint32_t frame, const struct finding *f)
{
    struct results *r = user;
    (void)frame;
    if (f->outcome == OUTCOME_INCONCLUSIVE)
        return;
    const char *check = r->check;
    r->check = "answers";
    add_finding(r, f);
    r->check = check;
}

void results_stage(struct results *r, const char *id, int outcome, const char *advice,
                   const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    checked_add_stage(r->checked, id, outcome, text, advice);
    g_free(text);
}

void results_advise(struct results *r, const char *format, ...)
{
    const GPtrArray *all = r->checked->stages;
    struct stage *s = all->pdata[all->len - 1];
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_free(s->advice);
    s->advice = plain_dup(text);
    g_free(text);
}

struct kept {
    const struct options *options;
    const char *also;
};

static bool is_kept(const struct stage *s, const void *user)
{
    const struct kept *k = user;
    return probe_options_select_stage(k->options, s->id) ||
           (k->also ? g_str_equal(s->id, k->also) : s->outcome == OUTCOME_INCONCLUSIVE);
}

void results_keep_selected(struct results *r, const struct options *o, const char *also)
{
    checked_keep_stages(r->checked, is_kept, &(struct kept){o, also});
}

void results_withhold_stage(struct results *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    checked_withhold_stage(r->checked, text);
    g_free(text);
}

void results_set_stage(struct results *r, unsigned at, const char *format, ...)
{
    struct stage *s = r->checked->stages->pdata[at];
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_free(s->text);
    s->text = plain_dup(text);
    g_free(text);
}

struct checked_times results_times(const struct latencies *t)
{
    return (struct checked_times){.n = t->n,
                                  .least = t->least,
                                  .median = times_percentile(t, 50),
                                  .p99 = times_percentile(t, 99)};
}

const char *results_outcome(const struct results *r)
{
    return r->any ? outcome_name(r->worst) : outcome_name((enum outcome)VERDICT_SKIPPED);
}
