/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of a command line. */
#ifndef IPOIB_CLI_NUMBERS_H
#define IPOIB_CLI_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A whole number from MIN to MAX, decimal, octal (0...) or hexadecimal (0x...), as ibdump takes
 * them.
 */
bool parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *out);

/* As that, with K, M or G behind it for 2^10, 2^20 or 2^30 times it. */
bool parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *out);

/* Seconds, more than 0, with up to 9 decimals: nanoseconds. */
bool parse_seconds(const char *text, uint64_t *out);

#endif
