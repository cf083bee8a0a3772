/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times in pcapng files. See pcapngtime.h. */
#include "pcapio/pcapngtime.h"

#include "wire/nanoseconds.h"

enum { TSRESOL_BINARY = 0x80 };

/* N: at most 19, the largest power of ten in 64 bits. */
static uint64_t power_of_ten(unsigned n)
{
    static const uint64_t powers[] = {
        UINT64_C(1),
        UINT64_C(10),
        UINT64_C(100),
        UINT64_C(1000),
        UINT64_C(10000),
        UINT64_C(100000),
        UINT64_C(1000000),
        UINT64_C(10000000),
        UINT64_C(100000000),
        UINT64_C(1000000000),
        UINT64_C(10000000000),
        UINT64_C(100000000000),
        UINT64_C(1000000000000),
        UINT64_C(10000000000000),
        UINT64_C(100000000000000),
        UINT64_C(1000000000000000),
        UINT64_C(10000000000000000),
        UINT64_C(100000000000000000),
        UINT64_C(1000000000000000000),
        UINT64_C(10000000000000000000),
    };

    return powers[n];
}

/* Returns the seconds in TICKS, in units of 10^-N s; NS: the remaining nanoseconds. */
static uint64_t split_decimal(uint64_t ticks, unsigned n, uint32_t *ns)
{
    const unsigned nine = 9, most = 19; /* 10^19 is the largest power of ten in 64 bits */

    if (n > most) {
        *ns = n - nine > most ? 0 : (uint32_t)(ticks / power_of_ten(n - nine));
        return 0;
    }
    uint64_t rest = ticks % power_of_ten(n);
    *ns = (uint32_t)(n <= nine ? rest * power_of_ten(nine - n) : rest / power_of_ten(n - nine));
    return ticks / power_of_ten(n);
}

/*
 * Like split_decimal, in units of 2^-N s. 32 bits of the fraction are enough, because they are
 * finer than a nanosecond.
 */
static uint64_t split_binary(uint64_t ticks, unsigned n, uint32_t *ns)
{
    uint64_t seconds = n < 64 ? ticks >> n : 0,
             rest = n < 64 ? ticks & ((UINT64_C(1) << n) - 1) : ticks;

    if (n > 32) {
        rest = n - 32 < 64 ? rest >> (n - 32) : 0;
        n = 32;
    }
    *ns = (uint32_t)(rest * (uint64_t)NANOSECONDS >> n);
    return seconds;
}

int64_t pcapng_ns(uint64_t ticks, uint8_t tsresol, int64_t offset)
{
    unsigned n = tsresol & ~TSRESOL_BINARY & 0xff;
    uint32_t ns;
    uint64_t of_ticks = tsresol & TSRESOL_BINARY ? split_binary(ticks, n, &ns)
                                                 : split_decimal(ticks, n, &ns);
    int64_t seconds;

    if (__builtin_add_overflow(of_ticks, offset, &seconds))
        return INT64_MAX; /* overflow: the seconds of the ticks are not negative */
    return nanoseconds_of(seconds, ns);
}
