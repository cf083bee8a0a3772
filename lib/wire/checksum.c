/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/checksum.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define HAVE_WIDE 1
#endif

#ifdef HAVE_WIDE
/* A sum of more bytes does not fit 31 bits. */
enum { WIDE = 32, FOUR_WIDE = 4 * WIDE, WIDE_MOST = 1 << 16 };

static bool can_widen;

__attribute__((constructor)) static void prepare(void)
{
    __builtin_cpu_init();
    can_widen = __builtin_cpu_supports("avx2");
}

#define WIDENS __attribute__((target("avx2")))

WIDENS static inline uint32_t add_lanes(__m256i lanes)
{
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    __m128i two = _mm_add_epi32(four, _mm_srli_si128(four, 8));
    return (uint32_t)_mm_cvtsi128_si32(_mm_add_epi32(two, _mm_srli_si128(two, 4)));
}

/*
 * The processor adds pairs of signed words, so 0x8000 is taken from each word before, and all of
 * them are added at the end.
 */
WIDENS static inline __m256i add_block(__m256i lanes, const uint8_t *p)
{
    const __m256i least = _mm256_set1_epi16(INT16_MIN), one = _mm256_set1_epi16(1);
    __m256i words = _mm256_xor_si256(_mm256_loadu_si256((const __m256i_u *)p), least);
    return _mm256_add_epi32(lanes, _mm256_madd_epi16(words, one));
}

/* n: a multiple of WIDE, at most WIDE_MOST. */
WIDENS static uint64_t add_wide(const uint8_t *p, uint32_t n)
{
    const uint8_t *end = p + n;
    __m256i lanes = _mm256_setzero_si256();
    for (; end - p >= FOUR_WIDE; p += FOUR_WIDE) {
        lanes = add_block(lanes, p);
        lanes = add_block(lanes, p + WIDE);
        lanes = add_block(lanes, p + 2 * WIDE);
        lanes = add_block(lanes, p + 3 * WIDE);
    }
    for (; p < end; p += WIDE)
        lanes = add_block(lanes, p);
    return (uint64_t)n / 2 * 0x8000 + (uint64_t)(int64_t)(int32_t)add_lanes(lanes);
}

uint64_t checksum_sum(const uint8_t *p, uint32_t n)
{
    uint32_t wide = can_widen && n <= WIDE_MOST ? n & ~(uint32_t)(WIDE - 1) : 0;
    uint64_t sum = wide ? add_wide(p, wide) : 0;
    return sum + checksum_sum_few(p + wide, n - wide);
}
#else
uint64_t checksum_sum(const uint8_t *p, uint32_t n)
{
    return checksum_sum_few(p, n);
}
#endif
