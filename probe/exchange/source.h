/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An address of the probe's own. */
#ifndef IPOIB_PROBE_SOURCE_H
#define IPOIB_PROBE_SOURCE_H

#include "probe/run/target.h"

/* Is the source address unused? Makes it ready; false: why says who has it. */
bool source_open(struct target *t, char *why, size_t size);

#endif
