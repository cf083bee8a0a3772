/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Competing heuristic dissectors, which are disabled while a frame of IPoIB is dissected. */
#ifndef IPOIB_PLUGIN_COMPETING_H
#define IPOIB_PLUGIN_COMPETING_H

#include "plugin/frame.h"

struct competing;
/* The heuristic dissectors that must not see this frame, NULL for none. */
struct competing *competing_of(const struct frame *f);
void competing_disable(struct competing *r);
/*
 * Enables the competing heuristic dissectors again, if they are disabled. Call it as early as
 * possible, because an exception may follow at any time.
 */
void competing_restore(void);

void competing_register(void);

#endif
