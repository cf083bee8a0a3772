/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times in 64 bits: nanoseconds since 1970. A file can contain times that do not fit (if_tsoffset
 * of pcapng has 64 bits of seconds). The plugin and the tools replace them by the nearest time that
 * fits.
 */
#ifndef IPOIB_WIRE_NANOSECONDS_H
#define IPOIB_WIRE_NANOSECONDS_H

#include <stdint.h>

#define NANOSECONDS INT64_C(1000000000) /* per second */

/*
 * Seconds plus a fraction in nanoseconds. In a malformed file the fraction may be a second or more,
 * or negative.
 */
static inline int64_t nanoseconds_of(int64_t seconds, int64_t fraction)
{
    int64_t all;
    if (seconds < 0 && fraction > 0) { /* the sum may fit even if its first term does not */
        seconds++;
        fraction -= NANOSECONDS;
    }
    if (__builtin_mul_overflow(seconds, NANOSECONDS, &all))
        return seconds < 0 ? INT64_MIN : INT64_MAX;
    if (__builtin_add_overflow(all, fraction, &all))
        return fraction < 0 ? INT64_MIN : INT64_MAX;
    return all;
}

/* A time and a wait after it, which is not negative; both in nanoseconds. */
static inline int64_t nanoseconds_later(int64_t ns, int64_t wait)
{
    int64_t later;
    return __builtin_add_overflow(ns, wait, &later) ? INT64_MAX : later;
}

#endif
