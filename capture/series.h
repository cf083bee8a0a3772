/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of a series of files. Of one path only one capture writes a series: each capture has
 * its present file locked, so that another one finds a locked file of that series. That leaves
 * nothing behind, even of a capture that was killed.
 */
#ifndef CAPTURE_SERIES_H
#define CAPTURE_SERIES_H

#include <stdbool.h>
#include <stddef.h>

/* The length of PATH up to where number and time are put: before the dot of its extension. */
size_t series_stem(const char *path);

/* Whether a file of the series of PATH is locked, other than OWN, which is open. */
bool series_is_written(const char *path, int own);

#endif
