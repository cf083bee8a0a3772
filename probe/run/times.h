/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Response times in constant memory, however many there are: their minimum, and a histogram with
 * buckets of at most 1/32 of the time, for the median and the 99th percentile.
 */
#ifndef IPOIB_PROBE_TIMES_H
#define IPOIB_PROBE_TIMES_H

#include <stdint.h>

#include <glib.h>

/* 32 buckets for each power of two, up to 2^36 microseconds (19 hours). */
enum { TIMES_BUCKETS = 1024 };

struct latencies {
    uint64_t n;
    gint64 least, most; /* microseconds; valid if n is not 0 */
    uint32_t buckets[TIMES_BUCKETS];
};

void times_add(struct latencies *t, gint64 us);
/*
 * The least time, in microseconds, that PERCENT of them do not exceed (nearest rank); 0: there is
 * none. It is right up to 1/64 of itself.
 */
gint64 times_percentile(const struct latencies *t, unsigned percent);
/* "0.10/0.12/0.31 ms": minimum, median, 99th percentile; "": none */
char *times_text(const struct latencies *t);

#endif
