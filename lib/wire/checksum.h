/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Internet checksum (RFC 1071). */
#ifndef IPOIB_WIRE_CHECKSUM_H
#define IPOIB_WIRE_CHECKSUM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Add n bytes that start at an even offset of the summed data. */
static inline uint32_t checksum_add(uint32_t sum, const uint8_t *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        sum += i & 1 ? p[i] : (uint32_t)p[i] << 8;
    return sum;
}

/* The checksum. 0: the summed data contains its right checksum. */
static inline uint16_t checksum_fold(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

/* A carry out of the upper bit is worth 1, as in all sums of one's complement. */
static inline uint64_t checksum_sum_word(uint64_t sum, uint64_t word)
{
    uint64_t total;
    bool carry = __builtin_add_overflow(sum, word, &total);
    return total + carry;
}

enum { CHECKSUM_BLOCK = 64 };

/*
 * The same with the CHECKSUM_BLOCK bytes at p. Not a loop, which would take a third of the time;
 * the compiler makes two instructions of each word, an addition and one of the carry.
 */
static inline uint64_t checksum_sum_block(uint64_t sum, const uint8_t *p)
{
#pragma GCC unroll 8
    for (unsigned i = 0; i < CHECKSUM_BLOCK; i += 8) {
        uint64_t word;
        memcpy(&word, p + i, sizeof word);
        sum = checksum_sum_word(sum, word);
    }
    return sum;
}

/*
 * The sum of n bytes that start at an even offset, eight at a time: in the host's byte order, and
 * not folded to 16 bits. Sums of parts can be added. It is only good for checksum_sum_is_right().
 */
static inline uint64_t checksum_sum(const uint8_t *p, uint32_t n)
{
    uint64_t eight, sum = 0;
    uint32_t four;
    uint16_t two;
    uint8_t last[2] = {0};
    for (; n >= CHECKSUM_BLOCK; n -= CHECKSUM_BLOCK, p += CHECKSUM_BLOCK)
        sum = checksum_sum_block(sum, p);
    for (; n >= 8; n -= 8, p += 8) {
        memcpy(&eight, p, 8);
        sum = checksum_sum_word(sum, eight);
    }
    sum = (sum & UINT32_MAX) + (sum >> 32);
    if (n & 4) {
        memcpy(&four, p, 4);
        sum += four;
        p += 4;
    }
    if (n & 2) {
        memcpy(&two, p, 2);
        sum += two;
        p += 2;
    }
    if (n & 1) {
        last[0] = *p;
        memcpy(&two, last, 2);
        sum += two;
    }
    return sum;
}

/* The same of 20 bytes, as of an IPv4 header without options. */
static inline uint64_t checksum_sum_20(const uint8_t *p)
{
    uint64_t words[2];
    uint32_t last;
    memcpy(words, p, sizeof words);
    memcpy(&last, p + sizeof words, sizeof last);
    return checksum_sum_word(checksum_sum_word(words[0], words[1]), last);
}

/* Do the summed data contain their right checksum? */
static inline bool checksum_sum_is_right(uint64_t sum)
{
    return sum && sum % 0xffff == 0;
}

#endif
