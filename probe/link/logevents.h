/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happened on the link in the packets of the probe's file: the events of lib/analysis, in the
 * order of the file, as comments of the frames in which they are seen.
 */
#ifndef IPOIB_PROBE_LOGEVENTS_H
#define IPOIB_PROBE_LOGEVENTS_H

#include <glib.h>

#include "rules/checker.h"

struct logevents;

struct logevents *logevents_new(void);
void logevents_free(struct logevents *e);

/*
 * The next frame of the file; its number is that in the file. Returns the options of a pcapng
 * packet block with a comment for each new event, of length 0 without one; valid until the next
 * call.
 */
const GByteArray *logevents_frame(struct logevents *e, const struct capture_frame *frame);

#endif
