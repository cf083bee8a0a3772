/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Competing heuristic dissectors, which are disabled while a frame of IPoIB is dissected. */
#ifndef IPOIB_PLUGIN_RIVALS_H
#define IPOIB_PLUGIN_RIVALS_H

#include "plugin/frame.h"

struct rivals;
/* The heuristic dissectors that must not see this frame, NULL for none. */
struct rivals *rivals_of(const struct frame *f);
void rivals_silence(struct rivals *r);
/*
 * Enables the competing heuristic dissectors again, if they are disabled. Call it as early as
 * possible, because an exception may follow at any time.
 */
void rivals_restore(void);

void rivals_register(void);

#endif
