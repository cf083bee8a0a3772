/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times as 64 bits of nanoseconds since 1970. A file can state times that do not fit (if_tsoffset
 * of pcapng has 64 bits of seconds): they become the nearest that fits, in the plugin as in the
 * tools.
 */
#ifndef IPOIB_WIRE_NANOSECONDS_H
#define IPOIB_WIRE_NANOSECONDS_H

#include <stdint.h>

#define NANOSECONDS INT64_C(1000000000) /* in a second */

/* Whole seconds, and a fraction, which a broken file lets be a second or more, or negative. */
static inline int64_t nanoseconds_of(int64_t seconds, int64_t fraction)
{
    int64_t all;
    if (seconds < 0 && fraction > 0) { /* the sum may fit where its first part does not */
        seconds++;
        fraction -= NANOSECONDS;
    }
    if (__builtin_mul_overflow(seconds, NANOSECONDS, &all))
        return seconds < 0 ? INT64_MIN : INT64_MAX;
    if (__builtin_add_overflow(all, fraction, &all))
        return fraction < 0 ? INT64_MIN : INT64_MAX;
    return all;
}

#endif
