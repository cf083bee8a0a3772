/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel tells in small files (sysfs, /proc/sys). */
#ifndef IPOIB_PROBE_SYSFS_H
#define IPOIB_PROBE_SYSFS_H

#include <glib.h>

/* The file's text without its line end; "": there is none. g_free. */
char *sysfs_read(const char *folder, const char *file);
/* The same of a network interface. */
char *sysfs_interface(const char *name, const char *attribute);

#endif
