/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Competing heuristic dissectors, which are disabled while a frame of IPoIB is dissected. */
#ifndef IPOIB_PLUGIN_COMPETING_H
#define IPOIB_PLUGIN_COMPETING_H

#include "plugin/frame.h"

struct competing;
/* The heuristic dissectors that would see this frame before ours, NULL for none. */
struct competing *competing_of(const struct frame *f);
void competing_disable(struct competing *r);
/*
 * Enables the competing heuristic dissectors again, if they are disabled. Call it as early as
 * possible, because an exception may follow at any time.
 */
void competing_restore(void);
/*
 * Our heuristic for payloads calls this before it dissects one, or before another heuristic may
 * match it. Enables the competing ones again.
 */
void competing_payload_matches(bool matches);

void competing_register(void);

#endif
