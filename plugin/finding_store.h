/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the findings of each frame, from the first pass to the end of the file. */
#ifndef IPOIB_PLUGIN_FINDING_STORE_H
#define IPOIB_PLUGIN_FINDING_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "rules/check.h"

/*
 * First pass only: adds a finding of this frame. Its offset is relative to base, which is in bytes
 * from the start of the frame. The texts are copied.
 */
void finding_store_add(uint32_t frame, uint32_t base, const struct finding *f);

bool finding_store_has(uint32_t frame);

/*
 * Calls each() for every finding of the frame, in the order in which they were added. The finding's
 * offset is relative to the start of the frame.
 */
void finding_store_each(uint32_t frame, void (*each)(void *user, const struct finding *f),
                        void *user);

/* Discards all findings at the end of a file. */
void finding_store_forget(void);

#endif
