/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel tells in small files (sysfs, /proc/sys). */
#ifndef IPOIB_PROBE_SYSFS_H
#define IPOIB_PROBE_SYSFS_H

#include <glib.h>

/* The file's text without its line end, by the parts of its path, NULL behind them; "": there is none. g_free. */
char *sysfs_read(const char *folder, ...) G_GNUC_NULL_TERMINATED;

#endif
