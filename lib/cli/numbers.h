/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses numbers of a command line. All functions return false if TEXT is invalid or out of range.
 */
#ifndef IPOIB_CLI_NUMBERS_H
#define IPOIB_CLI_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* Parses an integer from MIN to MAX: decimal, octal (0...) or hexadecimal (0x...), as in ibdump. */
bool parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *out);

/* Parses the P_Key of a partition, with or without the full-member bit (0x8000). */
bool parse_pkey(const char *text, uint64_t *out);

/*
 * Parses an integer with an optional suffix K, M or G (2^10, 2^20 or 2^30), in upper or lower case.
 */
bool parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *out);

/*
 * Parses seconds, more than 0 and at most 10^9, with decimals; digits after the ninth decimal are
 * ignored. OUT: nanoseconds.
 */
bool parse_seconds(const char *text, uint64_t *out);

#endif
