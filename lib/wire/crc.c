/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/crc.h"

#include <stdbool.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* Below this, folding costs more than it saves. */
enum { FOLD_MIN = 4 * CRC_BLOCK };

/* The CRC after a further bit 0; reflected, a multiplication by x. */
static uint32_t times_x(uint32_t crc, uint32_t polynomial)
{
    return crc >> 1 ^ (crc & 1 ? polynomial : 0);
}

static void make_followed_by(struct crc_tables *t, uint32_t polynomial)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t crc = b;
        for (unsigned bit = 0; bit < 8; bit++)
            crc = times_x(crc, polynomial);
        t->followed_by[0][b] = crc;
    }
    for (unsigned k = 1; k < CRC_AT_ONCE; k++)
        for (unsigned b = 0; b < 256; b++) {
            uint32_t before = t->followed_by[k - 1][b];
            t->followed_by[k][b] = before >> 8 ^ t->followed_by[0][before & 0xff];
        }
}

/* Eight bytes, as a packet is large and this is asked of many. */
static uint32_t add_eight(const struct crc_tables *tables, uint32_t crc, const uint8_t *p)
{
    const uint32_t(*t)[256] = tables->followed_by;
    return t[7][p[0] ^ (crc & 0xff)] ^ t[6][p[1] ^ (crc >> 8 & 0xff)] ^
           t[5][p[2] ^ (crc >> 16 & 0xff)] ^ t[4][p[3] ^ crc >> 24] ^ t[3][p[4]] ^ t[2][p[5]] ^
           t[1][p[6]] ^ t[0][p[7]];
}

uint32_t crc_add_by_table(const struct crc_tables *t, uint32_t crc, const uint8_t *p, size_t n)
{
    for (; n >= CRC_AT_ONCE; n -= CRC_AT_ONCE, p += CRC_AT_ONCE)
        crc = add_eight(t, crc, p);
    for (; n; n--, p++)
        crc = crc >> 8 ^ t->followed_by[0][(crc ^ *p) & 0xff];
    return crc;
}

#ifdef __x86_64__

/*
 * x to the power n, as the 64 bits by which a reflected half block is multiplied: bit i stands for
 * the power 63 - i. The CRC of a single bit 1 is the polynomial itself, x to the power of its
 * degree.
 */
static uint64_t power(uint32_t polynomial, unsigned degree, unsigned n)
{
    uint32_t crc = polynomial;
    for (unsigned i = degree; i < n; i++)
        crc = times_x(crc, polynomial);
    return (uint64_t)crc << (64 - degree);
}

/*
 * Folding (Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
 * Instruction", Intel 2009): a block's two halves, multiplied by the powers of x that are between
 * them and the next block, are added to that. The product of two reflected halves is one bit short
 * of a block, hence the powers less one: 191 and 127.
 */
static void make_block_later(struct crc_tables *t, uint32_t polynomial, unsigned degree)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("sse2"))
        return;
    t->block_later[0] = power(polynomial, degree, 2 * 64 + 64 - 1);
    t->block_later[1] = power(polynomial, degree, 2 * 64 - 1);
}

/* Of n blocks; the CRC is that of the last one, left in rest, preset to 0. */
__attribute__((target("pclmul,sse2"))) static void
fold(const struct crc_tables *t, uint32_t crc, const uint8_t *p, size_t n, uint8_t rest[CRC_BLOCK])
{
    const __m128i later = _mm_loadu_si128((const __m128i *)t->block_later);
    __m128i all = _mm_xor_si128(_mm_loadu_si128((const __m128i *)p), _mm_cvtsi32_si128((int)crc));
    while (--n) {
        p += CRC_BLOCK;
        __m128i first = _mm_clmulepi64_si128(all, later, 0x00);
        __m128i second = _mm_clmulepi64_si128(all, later, 0x11);
        __m128i next = _mm_loadu_si128((const __m128i *)p);
        all = _mm_xor_si128(_mm_xor_si128(first, second), next);
    }
    _mm_storeu_si128((__m128i *)rest, all);
}

uint32_t crc_add(const struct crc_tables *t, uint32_t crc, const uint8_t *p, size_t n)
{
    uint8_t rest[CRC_BLOCK];
    size_t blocks = n / CRC_BLOCK;
    if (!t->block_later[0] || n < FOLD_MIN)
        return crc_add_by_table(t, crc, p, n);
    fold(t, crc, p, blocks, rest);
    crc = crc_add_by_table(t, 0, rest, sizeof rest);
    return crc_add_by_table(t, crc, p + blocks * CRC_BLOCK, n % CRC_BLOCK);
}

#else

static void make_block_later(struct crc_tables *t, uint32_t polynomial, unsigned degree)
{
    (void)t;
    (void)polynomial;
    (void)degree;
}

uint32_t crc_add(const struct crc_tables *t, uint32_t crc, const uint8_t *p, size_t n)
{
    return crc_add_by_table(t, crc, p, n);
}

#endif

void crc_tables_make(struct crc_tables *t, uint32_t polynomial, unsigned degree)
{
    memset(t, 0, sizeof *t);
    make_followed_by(t, polynomial);
    make_block_later(t, polynomial, degree);
}
