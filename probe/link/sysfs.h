/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads small kernel files (sysfs, /proc/sys). */
#ifndef IPOIB_PROBE_SYSFS_H
#define IPOIB_PROBE_SYSFS_H

#include <stdbool.h>

#include <glib.h>

/* The file's text without its line end; "" if it cannot be read. Free with g_free(). */
char *sysfs_read(const char *folder, const char *file);
/* The same for a network interface's attribute. */
char *sysfs_interface(const char *name, const char *attribute);
/* Is the interface in a VRF (virtual routing and forwarding), whose routes are its own? */
bool sysfs_is_in_vrf(const char *interface);
/* Is the IPoIB interface in connected mode? Then its packets may go over connections. */
bool sysfs_is_connected(const char *interface);

#endif
