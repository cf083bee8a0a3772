/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Responses of the SA in several segments (RMPP, IBA 13.6) of which some were not captured.
 */
#ifndef IPOIB_MODEL_TRANSFERS_H
#define IPOIB_MODEL_TRANSFERS_H

#include "model/port.h"
#include "wire/sa.h"

struct transfers;

/* Free with g_free(). */
struct transfers *transfers_new(void);

/* A segment of a response to this port. ns: its time. */
void transfers_see(struct transfers *all, const struct port *to, const struct sa *sa,
                   uint32_t frame, int64_t ns);

/* How many are incomplete, as if the capture ended now; frame: the first segment of the first. */
uint64_t transfers_incomplete(const struct transfers *all, int64_t now, uint32_t *frame);

#endif
