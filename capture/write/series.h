/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * File names of a series. Only one capture at a time may write a series of a given path: each
 * capture locks its current file, so a second capture finds a locked file of the series. A lock
 * ends with its process, so a killed capture leaves no stale lock.
 */
#ifndef CAPTURE_SERIES_H
#define CAPTURE_SERIES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the length of PATH before the number and time are inserted: up to the dot of its
 * extension.
 */
size_t series_stem(const char *path);

/*
 * Whether another process has locked a file of the series of PATH. OWN: descriptor of the caller's
 * file, which is ignored.
 */
bool series_is_written(const char *path, int own);

#endif
