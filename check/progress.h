/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far a long file is judged, on a terminal. */
#ifndef IPOIB_CHECK_PROGRESS_H
#define IPOIB_CHECK_PROGRESS_H

#include <stdint.h>

struct capfile;
struct progress;

/*
 * Tells of the file, from the second second on, on stderr if that is a terminal. Both must outlive
 * it.
 */
struct progress *progress_new(const char *name, const struct capfile *file);
void progress_frame(struct progress *p, uint32_t number);
/* Takes back what is on the terminal. */
void progress_free(struct progress *p);

#endif
