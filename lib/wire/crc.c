/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/crc.h"

#include <stdbool.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define HAVE_FOLD 1
#endif

enum { BLOCK = 16, FOUR_BLOCKS = 4 * BLOCK, FOLD_MIN = BLOCK + 1 };

/*
 * Bit-reversed. The CRC-16 of a message is its CRC-32 with the polynomial times x^16: the same
 * register, of which only the lower 16 bits are in use.
 */
enum { CRC32_POLYNOMIAL = 0xedb88320u, CRC16_POLYNOMIAL = 0xd008 }; /* 0x04C11DB7, 0x100B */

static struct crc made_32, made_16;
const struct crc *const crc_32 = &made_32, *const crc_16 = &made_16;

/* ---- tables */

static uint32_t times_x(uint32_t reg, uint32_t polynomial)
{
    return reg >> 1 ^ (reg & 1 ? polynomial : 0);
}

/* x^exponent modulo the polynomial, as a bit-reversed value of 64 bits. */
static uint64_t power_of_x(unsigned exponent, uint32_t polynomial)
{
    uint32_t reg = 1u << 31; /* x^0 */
    while (exponent--)
        reg = times_x(reg, polynomial);
    return (uint64_t)reg << 32;
}

/* x^64 divided by the polynomial, without the remainder, as a bit-reversed value of 33 bits. */
static uint64_t quotient(uint32_t polynomial)
{
    uint64_t q = 1;
    uint32_t reg = polynomial; /* x^32 modulo the polynomial, the remainder of the first step */
    for (unsigned bit = 1; bit <= 32; bit++) {
        q |= (uint64_t)(reg & 1) << bit;
        reg = times_x(reg, polynomial);
    }
    return q;
}

static void make_tables(struct crc *kind, uint32_t polynomial)
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
    kind->fold_64[0] = power_of_x(575, polynomial);
    kind->fold_64[1] = power_of_x(511, polynomial);
    kind->fold_16[0] = power_of_x(191, polynomial);
    kind->fold_16[1] = power_of_x(127, polynomial);
    kind->shorten[0] = power_of_x(95, polynomial);
    kind->shorten[1] = power_of_x(63, polynomial);
    kind->barrett[0] = quotient(polynomial);
    kind->barrett[1] = (uint64_t)polynomial << 1 | 1;
}

static bool can_fold;

/* Runs when the program is loaded, so that no packet needs a check for it. */
__attribute__((constructor)) static void prepare_tables(void)
{
    make_tables(&made_32, CRC32_POLYNOMIAL);
    make_tables(&made_16, CRC16_POLYNOMIAL);
#ifdef HAVE_FOLD
    __builtin_cpu_init();
    can_fold = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("ssse3");
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
#define FOLDS __attribute__((target("pclmul,ssse3")))

FOLDS static inline __m128i load(const void *p)
{
    return _mm_loadu_si128(p);
}

FOLDS static inline __m128i load_block(const uint8_t *blocks, size_t number)
{
    return load(blocks + number * BLOCK);
}

/*
 * A block that is followed by others is low * x^(n + 64) + high * x^n, where n is the number of
 * bits that follow: its low half is its higher powers. The factors have one x less, because the
 * product of bit-reversed values is one place too low.
 */
FOLDS static inline __m128i fold_into(__m128i block, __m128i factors, __m128i next)
{
    __m128i low = _mm_clmulepi64_si128(block, factors, 0x00);
    __m128i high = _mm_clmulepi64_si128(block, factors, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/* Four blocks at once, because a processor multiplies several while it waits for one product. */
FOLDS static inline __m128i fold_four(const struct crc *kind, __m128i block, const uint8_t **at,
                                      const uint8_t *end)
{
    const __m128i far = load(kind->fold_64), near = load(kind->fold_16);
    const uint8_t *p = *at;
    __m128i a = block, b = load(p), c = load_block(p, 1), d = load_block(p, 2);
    for (p += FOUR_BLOCKS - BLOCK; end - p >= FOUR_BLOCKS; p += FOUR_BLOCKS) {
        a = fold_into(a, far, load(p));
        b = fold_into(b, far, load_block(p, 1));
        c = fold_into(c, far, load_block(p, 2));
        d = fold_into(d, far, load_block(p, 3));
    }
    *at = p;
    return fold_into(fold_into(fold_into(a, near, b), near, c), near, d);
}

/* The register after a block: from 128 bits to 96 and 64, then Barrett's reduction to 32. */
FOLDS static inline uint32_t reduce(const struct crc *kind, __m128i block)
{
    const __m128i shorten = load(kind->shorten), barrett = load(kind->barrett);
    const __m128i low_32 = _mm_set_epi32(0, 0, 0, -1), second_32 = _mm_set_epi32(0, 0, -1, 0);
    __m128i high = _mm_srli_si128(block, 8);
    __m128i x = _mm_xor_si128(_mm_clmulepi64_si128(block, shorten, 0x00), _mm_slli_si128(high, 4));
    __m128i top = _mm_and_si128(x, second_32);
    x = _mm_srli_si128(_mm_xor_si128(x, _mm_clmulepi64_si128(top, shorten, 0x10)), 8);
    __m128i q = _mm_clmulepi64_si128(_mm_and_si128(x, low_32), barrett, 0x00);
    __m128i product = _mm_clmulepi64_si128(_mm_and_si128(q, low_32), barrett, 0x10);
    return (uint32_t)_mm_cvtsi128_si32(_mm_srli_si128(_mm_xor_si128(x, product), 4));
}

/* The first n bytes of the block, 1 to 16, at its end; zeros before them. */
FOLDS static inline __m128i move_to_end(__m128i block, size_t n)
{
    static const uint8_t places[2 * BLOCK] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                              0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                              0,    1,    2,    3,    4,    5,    6,    7,
                                              8,    9,    10,   11,   12,   13,   14,   15};
    return _mm_shuffle_epi8(block, load(places + n));
}

/*
 * Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction",
 * Intel 2009. The first block has leading zeros, which do not change the remainder, so that the
 * last one ends with the bytes. n: FOLD_MIN or more.
 */
FOLDS static uint32_t add_by_folding(const struct crc *kind, uint32_t reg, const uint8_t *p,
                                     size_t n)
{
    const __m128i near = load(kind->fold_16);
    const uint8_t *end = p + n;
    size_t first = (n - 1) % BLOCK + 1; /* bytes in the first block */
    /* the register is added to the first four bytes, some of which may be in the second block */
    uint32_t rest = first < sizeof reg ? reg >> 8 * first : 0;
    __m128i x = move_to_end(_mm_xor_si128(load(p), _mm_cvtsi32_si128((int)reg)), first);
    x = fold_into(x, near, _mm_xor_si128(load(p + first), _mm_cvtsi32_si128((int)rest)));
    p += first + BLOCK;
    if ((end - p) / FOUR_BLOCKS >= 2)
        x = fold_four(kind, x, &p, end);
    for (; p < end; p += BLOCK)
        x = fold_into(x, near, load(p));
    return reduce(kind, x);
}
#else
static uint32_t add_by_folding(const struct crc *kind, uint32_t reg, const uint8_t *p, size_t n)
{
    return crc_add_by_tables(kind, reg, p, n);
}
#endif

uint32_t crc_add(const struct crc *kind, uint32_t reg, const uint8_t *p, size_t n)
{
    return can_fold && n >= FOLD_MIN ? add_by_folding(kind, reg, p, n)
                                     : crc_add_by_tables(kind, reg, p, n);
}
