/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of a port's responses to SMPs (routes.c). Private to analysis/. */
#ifndef IPOIB_ANALYSIS_SMP_ORDER_H
#define IPOIB_ANALYSIS_SMP_ORDER_H

#include "analysis/watch.h"

struct smp_seen {
    uint64_t tid;
    int64_t ns;
    uint32_t psn;
    bool known;
};

/* The last responses; all zero at first. */
enum { SMP_ORDER = 4 };
struct smp_order {
    struct smp_seen recent[SMP_ORDER];
    uint8_t last;
};

/* Was the current packet sent before the last one that was seen, or is it a copy of one? */
bool smp_is_old(const struct watch *w, struct smp_order *o);

#endif
