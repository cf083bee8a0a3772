/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of others that root loads or runs. */
#ifndef CAPTURE_TRUSTED_H
#define CAPTURE_TRUSTED_H

#include <glib.h>
#include <limits.h>
#include <stdbool.h>

/*
 * Whether only root can change the file PATH, an absolute path: it and each folder on the way
 * belong to root, and others may not write to them. Links are resolved; REAL is the path without
 * them, and still leads to the same file when it is opened. Returns false and sets ERROR if not.
 */
bool trusted_file(const char *path, char real[PATH_MAX], GError **error);

#endif
