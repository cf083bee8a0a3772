/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See times.h. */
#include "probe/run/times.h"

enum { SUB_BITS = 5, SUB = 1 << SUB_BITS };

/* Times below SUB have a bucket each. Above, the SUB_BITS after the first bit choose the bucket. */
static unsigned bucket_of(gint64 us)
{
    guint64 value = us > 0 ? (guint64)us : 0;
    unsigned shift = 0;
    while (value >> shift >= (guint64)2 * SUB)
        shift++;
    return MIN((unsigned)(value >> shift) + shift * SUB, TIMES_BUCKETS - 1u);
}

/* The middle of the bucket. */
static gint64 time_of(unsigned bucket)
{
    if (bucket < 2 * SUB)
        return bucket;
    unsigned shift = bucket / SUB - 1;
    gint64 first = (gint64)(bucket - shift * SUB) << shift;
    return first + ((gint64)1 << shift) / 2;
}

void times_add(struct latencies *t, gint64 us)
{
    us = MAX(us, 0);
    t->least = t->n ? MIN(t->least, us) : us;
    t->most = t->n ? MAX(t->most, us) : us;
    t->n++;
    t->buckets[bucket_of(us)]++;
}

gint64 times_percentile(const struct latencies *t, unsigned percent)
{
    uint64_t rank = (t->n * percent + 99) / 100, seen = 0;
    for (unsigned i = 0; i < TIMES_BUCKETS; i++) {
        seen += t->buckets[i];
        if (seen && seen >= rank)
            return CLAMP(time_of(i), t->least, t->most);
    }
    return 0;
}

char *times_text(const struct latencies *t)
{
    if (!t->n)
        return g_strdup("");
    return g_strdup_printf("%.2f/%.2f/%.2f ms", (double)t->least / 1000,
                           (double)times_percentile(t, 50) / 1000,
                           (double)times_percentile(t, 99) / 1000);
}
