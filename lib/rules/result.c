/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/result.h"

#include <inttypes.h>

#include "rules/certainty.h"
#include "rules/postpone.h"

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

/* The result is as certain as its least certain fact. */
static struct certainty least_certain(const struct check_context *s, const struct result *r)
{
    struct certainty least = {FACT_IS_CERTAIN, NULL, NULL, NULL, 0};
    if (order_is_reversed(&s->f->order))
        return uncertain("a response was captured before its request, or a request a second time "
                         "later: the capture is in the order of two clocks or capture points");
    if (s->e->sender_seen == SEEN_LATE)
        return uncertain("the queue pair sent the datagram earlier: the facts may have changed "
                         "since");
    for (unsigned i = 0; i < RESULT_FACTS && r->facts[i].kind != FACT_NONE; i++) {
        struct certainty certainty = fact_certainty(s, &r->facts[i]);
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

static void fail_later(const struct check_context *s, const struct result *r,
                       struct certainty certainty, const char *expected, const char *actual)
{
    switch (certainty.when) {
    case FACT_AT_MEMBER:
        postpone_to_member(s, certainty.group, r->rule, &r->about, r->value, expected, actual);
        break;
    case FACT_AT_SMP:
        postpone_to_smi(s, certainty.port, r->rule, &r->about, r->value, expected, actual);
        break;
    case FACT_AT_DATAGRAM:
        postpone_to_requester(s, certainty.port, r->facts[0].request, r->rule, &r->about, r->value,
                              expected, actual);
        break;
    case FACT_AT_RESPONSE:
    case FACT_AT_SA:
        postpone_to_sa(s, certainty.port, certainty.since, certainty.when == FACT_AT_SA, r->rule,
                       &r->about, r->value, expected, actual);
        break;
    default:
        postpone(s, certainty.port, r->rule, &r->about, r->value, expected, actual);
        break;
    }
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
        fail_later(s, r, certainty, wanted, seen);
}

bool report_result(const struct check_context *s, const struct result *r)
{
    struct certainty certainty = least_certain(s, r);
    if (certainty.when == FACT_UNCERTAIN) {
        report_inconclusive(s->r, r->rule, r->unknown_at, certainty.missing);
        return false;
    }
    bool once = certainty.when == FACT_IS_CERTAIN && r->often == REPORT_ONCE;
    if (!once || is_new(s->r, r->rule, &r->about, r->value))
        report_violation(s, r, certainty);
    return true;
}
