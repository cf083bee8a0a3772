/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The LIDs that ports had before. Private to analysis/. */
#ifndef IPOIB_ANALYSIS_LIDS_H
#define IPOIB_ANALYSIS_LIDS_H

struct lids;

/* Freed by g_free(). */
struct lids *lids_new(void);

#endif
