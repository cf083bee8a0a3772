/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SLs of the paths that the SA gave. Private to analysis/. */
#ifndef IPOIB_ANALYSIS_PATH_SLS_H
#define IPOIB_ANALYSIS_PATH_SLS_H

#include "analysis/watch.h"

/* A cache. */
enum { PATH_SLS = 1 << 10 };

struct path_sls {
    uint32_t sls; /* of all paths, a bit each */
    struct path_sl {
        uint16_t subnet, slid, dlid, pkey; /* SLID 0: unused */
        uint8_t sl;
        bool differs; /* paths with several SLs were given */
        uint32_t frame;
    } all[PATH_SLS];
};

/* Has a path another SL than the current packet? */
static inline bool sl_may_differ(const struct watch *w)
{
    return w->path_sls->sls & ~(UINT32_C(1) << (w->p->ib.sl & 0x0f));
}

/* The path that the SA gave last; NULL: none. */
const struct path_sl *path_sl_of(const struct watch *w, uint16_t slid, uint16_t dlid);

#endif
