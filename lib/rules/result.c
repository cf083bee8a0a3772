/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/result.h"

#include <inttypes.h>

#include "rules/certainty.h"
#include "rules/claims/claim.h"
#include "rules/suspicions/results.h"
#include "rules/suspicions/suspicions.h"

void describe_hex(const struct check_context *s, const struct result *r, char *expected,
                  char *actual)
{
    int digits = (int)(2 * r->at.n);
    (void)s;
    g_snprintf(expected, RESULT_TEXT, "0x%0*" PRIx64, digits, r->wanted);
    g_snprintf(actual, RESULT_TEXT, "0x%0*" PRIx64, digits, r->value);
}

void describe_qpn(const struct check_context *s, const struct result *r, char *expected,
                  char *actual)
{
    (void)s;
    g_snprintf(expected, RESULT_TEXT, "QPN 0x%06" PRIx64, r->wanted);
    g_snprintf(actual, RESULT_TEXT, "QPN 0x%06" PRIx64, r->value);
}

/* Why the packet does not belong where it is in the capture; NULL: it does. */
static const char *why_misplaced(const struct check_context *s)
{
    if (order_is_reversed(&s->f->order))
        return "a response was captured before its request, or packets a second time later: the "
               "capture is in the order of two clocks or capture points";
    return s->e->sender_seen == SEEN_LATE
               ? "the queue pair sent the datagram earlier: the facts may have changed since"
               : NULL;
}

/* The result is as certain as its least certain fact. */
static struct certainty least_certain(const struct check_context *s, const struct result *r)
{
    struct certainty least = certain();
    const char *misplaced = why_misplaced(s);
    if (misplaced)
        return uncertain(misplaced);
    for (unsigned i = 0; i < RESULT_FACTS && r->facts[i].kind != FACT_NONE; i++) {
        struct certainty certainty = fact_certainty(s, &r->facts[i]);
        if (i > 0) /* only the first fact may be the other value of a suspicion */
            certainty.captured_in = 0;
        if (certainty.when < least.when)
            least = certainty;
        if (least.when == FACT_UNCERTAIN)
            break;
    }
    return least;
}

static void fail_now(const struct check_context *s, const struct result *r, const char *expected,
                     const char *actual)
{
    if (r->often == REPORT_PACKET)
        report_fail(s->r, r->rule, r->at.p, r->at.n, expected, actual);
    else
        report_fail_about(s->r, r->rule, &r->about, r->at.p, r->at.n, expected, actual);
}

/* Writes the texts and reports. */
static void report_violation(const struct check_context *s, const struct result *r,
                             struct certainty certainty)
{
    char expected[RESULT_TEXT], actual[RESULT_TEXT];
    if (r->describe)
        r->describe(s, r, expected, actual);
    const char *wanted = r->describe ? expected : r->expected,
               *seen = r->describe ? actual : r->actual;
    if (certainty.when == FACT_IS_CERTAIN)
        fail_now(s, r, wanted, seen);
    else
        claims_add(s, r, &certainty, wanted, seen);
}

/* Reports with the number that was observed. */
static void report_number(const struct check_context *s, const struct result *r,
                          struct certainty certainty)
{
    struct reporter reporter = *s->r;
    struct check_context of = *s;
    reporter.value = r->describe && !r->is_code ? &r->value : NULL;
    reporter.name = reporter.value ? r->name : NULL;
    of.r = &reporter;
    report_violation(&of, r, certainty);
}

bool report_result(const struct check_context *s, const struct result *r)
{
    struct certainty certainty = least_certain(s, r);
    if (certainty.when == FACT_UNCERTAIN) {
        report_inconclusive(s->r, r->rule, r->unknown_at, certainty.missing);
        if (certainty.captured_in)
            suspect_result(s, r, certainty.captured_in, false);
        return false;
    }
    if (certainty.when == FACT_IS_CERTAIN)
        suspicions_drop(s, r->rule, &r->about);
    bool once = certainty.when == FACT_IS_CERTAIN && r->often == REPORT_ONCE;
    if (!once || is_new(s->r, r->rule, &r->about, result_value(r)))
        report_number(s, r, certainty);
    return true;
}
