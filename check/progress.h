/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress display for long files, on a terminal. */
#ifndef IPOIB_CHECK_PROGRESS_H
#define IPOIB_CHECK_PROGRESS_H

#include <stdint.h>

struct capfile;
struct reading_progress;

/*
 * Shows the progress in the file after one second, on stderr if it is a terminal. file must
 * outlive it.
 */
struct reading_progress *progress_new(const char *name, const struct capfile *file);
void progress_frame(struct reading_progress *p, uint32_t number);
/* Erases the display. */
void progress_free(struct reading_progress *p);

#endif
