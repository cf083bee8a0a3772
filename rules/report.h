/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How checks tell what they found; for the files of rules/ alone. */
#ifndef IPOIB_RULES_REPORT_H
#define IPOIB_RULES_REPORT_H

#include "rules/check.h"

/* Report the octets p[0..n-1]. */
void report(const struct reporter *r, enum rule_number rule, enum outcome outcome, const uint8_t *p, uint32_t n,
            const char *expected, const char *actual);

/* The field of n octets (at most 8, big-endian) at p must be value; both are shown in hexadecimal. */
void expect_value(const struct reporter *r, enum rule_number rule, const uint8_t *p, uint32_t n, uint64_t value);

/* The same for bits under mask of one octet. */
void expect_bits(const struct reporter *r, enum rule_number rule, const uint8_t *p, uint8_t mask, uint8_t value);

/* PASS or FAIL, with words. */
void expect_that(const struct reporter *r, enum rule_number rule, bool holds, const uint8_t *p, uint32_t n, const char *expected,
                 const char *actual);

/* What could not be seen. */
void inconclusive(const struct reporter *r, enum rule_number rule, const uint8_t *p, const char *why);

#endif
