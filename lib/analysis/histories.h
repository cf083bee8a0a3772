/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the watchers remember between packets. Freed by g_free(). Private to analysis/. */
#ifndef IPOIB_ANALYSIS_HISTORIES_H
#define IPOIB_ANALYSIS_HISTORIES_H

/* Its struct is that of one file. All are 0 at the start. */
#define NEW_HISTORY(type, make)                                                                    \
    struct type *make(void)                                                                        \
    {                                                                                              \
        return g_new0(struct type, 1);                                                             \
    }

#define HISTORY(type, member, make) struct type *make(void);
#include "analysis/histories.def"
#undef HISTORY

struct receivers *receivers_new(void); /* receivers.c */
void receivers_free(struct receivers *r);
/* The events have gone to another owner. */
void receivers_forget_events(struct receivers *r);

#endif
