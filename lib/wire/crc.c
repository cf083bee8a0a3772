/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/crc.h"

#include <stdbool.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define HAVE_FOLD 1
#endif

enum { BLOCK = 16, FOLD_MIN = 2 * BLOCK };
enum { CRC32_POLYNOMIAL = 0xedb88320u, CRC16_POLYNOMIAL = 0xd008 }; /* 0x04C11DB7, 0x100B */

static struct crc made_32, made_16;
const struct crc *const crc_32 = &made_32, *const crc_16 = &made_16;

/* ---- tables */

static uint32_t times_x(uint32_t reg, uint32_t polynomial)
{
    return reg >> 1 ^ (reg & 1 ? polynomial : 0);
}

/* x^exponent modulo the polynomial of this width, as a bit-reversed value of 64 bits. */
static uint64_t power_of_x(unsigned exponent, uint32_t polynomial, unsigned width)
{
    uint32_t reg = 1u << (width - 1); /* x^0 */
    while (exponent--)
        reg = times_x(reg, polynomial);
    return (uint64_t)reg << (64 - width);
}

static void make_tables(struct crc *kind, uint32_t polynomial, unsigned width)
{
    uint32_t(*t)[256] = kind->followed_by;
    for (unsigned b = 0; b < 256; b++) {
        t[0][b] = b;
        for (unsigned bit = 0; bit < 8; bit++)
            t[0][b] = times_x(t[0][b], polynomial);
    }
    for (unsigned k = 1; k < CRC_AT_ONCE; k++)
        for (unsigned b = 0; b < 256; b++)
            t[k][b] = t[k - 1][b] >> 8 ^ t[0][t[k - 1][b] & 0xff];
    kind->fold[0] = power_of_x(191, polynomial, width);
    kind->fold[1] = power_of_x(127, polynomial, width);
}

static bool can_fold;

/* Runs when the program is loaded, so that no packet needs a check for it. */
__attribute__((constructor)) static void prepare_tables(void)
{
    make_tables(&made_32, CRC32_POLYNOMIAL, 32);
    make_tables(&made_16, CRC16_POLYNOMIAL, 16);
#ifdef HAVE_FOLD
    __builtin_cpu_init();
    can_fold = __builtin_cpu_supports("pclmul");
#endif
}

static uint32_t le32_of(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Process eight bytes at once, for speed. */
static inline uint32_t add_eight(const struct crc *kind, uint32_t reg, const uint8_t *p)
{
    const uint32_t(*t)[256] = kind->followed_by;
    uint32_t a = le32_of(p) ^ reg, b = le32_of(p + 4);
    return t[7][a & 0xff] ^ t[6][a >> 8 & 0xff] ^ t[5][a >> 16 & 0xff] ^ t[4][a >> 24] ^
           t[3][b & 0xff] ^ t[2][b >> 8 & 0xff] ^ t[1][b >> 16 & 0xff] ^ t[0][b >> 24];
}

uint32_t crc_add_by_tables(const struct crc *kind, uint32_t reg, const uint8_t *p, size_t n)
{
    for (; n >= CRC_AT_ONCE; n -= CRC_AT_ONCE, p += CRC_AT_ONCE)
        reg = add_eight(kind, reg, p);
    for (; n; n--, p++)
        reg = reg >> 8 ^ kind->followed_by[0][(reg ^ *p) & 0xff];
    return reg;
}

/* ---- folding */

#ifdef HAVE_FOLD
/*
 * Replaces all whole blocks by one block of the same remainder (Gopal and others, "Fast CRC
 * Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009). The low half of a
 * block is its higher powers. A block that 128 bits follow is low * x^192 + high * x^128; the
 * factors have one x less, because the product of bit-reversed values is one place too low.
 */
__attribute__((target("pclmul"))) static void fold(const struct crc *kind, uint32_t reg,
                                                   const uint8_t *p, const uint8_t *end,
                                                   uint8_t block[BLOCK])
{
    __m128i factors = _mm_loadu_si128((const __m128i *)(const void *)kind->fold);
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
    x = _mm_xor_si128(x, _mm_cvtsi32_si128((int)reg));
    for (p += BLOCK; p < end; p += BLOCK) {
        __m128i next = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i low = _mm_clmulepi64_si128(x, factors, 0x00);
        __m128i high = _mm_clmulepi64_si128(x, factors, 0x11);
        x = _mm_xor_si128(_mm_xor_si128(low, high), next);
    }
    _mm_storeu_si128((__m128i *)(void *)block, x);
}
#else
static void fold(const struct crc *kind, uint32_t reg, const uint8_t *p, const uint8_t *end,
                 uint8_t block[BLOCK])
{
    (void)kind, (void)reg, (void)p, (void)end, (void)block;
}
#endif

uint32_t crc_add(const struct crc *kind, uint32_t reg, const uint8_t *p, size_t n)
{
    uint8_t block[BLOCK];
    if (!can_fold || n < FOLD_MIN)
        return crc_add_by_tables(kind, reg, p, n);
    size_t whole = n - n % BLOCK;
    fold(kind, reg, p, p + whole, block);
    reg = crc_add_by_tables(kind, 0, block, BLOCK);
    return crc_add_by_tables(kind, reg, p + whole, n % BLOCK);
}
