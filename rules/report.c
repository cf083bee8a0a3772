/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/report.h"

#include <inttypes.h>
#include <stdio.h>

void report(const struct reporter *r, enum rule_number rule, enum outcome outcome, const uint8_t *p, uint32_t n,
            const char *expected, const char *actual)
{
    struct finding f = {rule, outcome, p && r->base ? (uint32_t)(p - r->base) : 0, n, expected, actual};
    r->report(r->user, &f);
}

static uint64_t big_endian(const uint8_t *p, uint32_t n)
{
    uint64_t v = 0;
    while (n--)
        v = v << 8 | *p++;
    return v;
}

static void compare(const struct reporter *r, enum rule_number rule, const uint8_t *p, uint32_t n, uint64_t wanted, uint64_t seen)
{
    char expected[24], actual[24];
    snprintf(expected, sizeof expected, "0x%0*" PRIx64, (int)(2 * n), wanted);
    snprintf(actual, sizeof actual, "0x%0*" PRIx64, (int)(2 * n), seen);
    report(r, rule, wanted == seen ? OUTCOME_PASS : OUTCOME_FAIL, p, n, expected, actual);
}

void expect_value(const struct reporter *r, enum rule_number rule, const uint8_t *p, uint32_t n, uint64_t value)
{
    compare(r, rule, p, n, value, big_endian(p, n));
}

void expect_bits(const struct reporter *r, enum rule_number rule, const uint8_t *p, uint8_t mask, uint8_t value)
{
    compare(r, rule, p, 1, value, p[0] & mask);
}

void expect_that(const struct reporter *r, enum rule_number rule, bool holds, const uint8_t *p, uint32_t n, const char *expected,
                 const char *actual)
{
    report(r, rule, holds ? OUTCOME_PASS : OUTCOME_FAIL, p, n, expected, actual);
}

void inconclusive(const struct reporter *r, enum rule_number rule, const uint8_t *p, const char *why)
{
    report(r, rule, OUTCOME_INCONCLUSIVE, p, 0, "", why);
}
