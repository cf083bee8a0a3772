/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that GLib got after 2.56, the oldest version that the tools are built with: RHEL 8 has
 * it. Other functions of newer versions are errors (IPOIB_OLDEST_GLIB in CMakeLists.txt).
 */
#ifndef IPOIB_COMPAT_GLIB_H
#define IPOIB_COMPAT_GLIB_H

#include <glib.h>
#include <string.h>

/* g_memdup2() of 2.68; the older g_memdup() takes a size of 32 bits. */
static inline void *compat_memdup(const void *bytes, gsize size)
{
    return bytes && size > 0 ? memcpy(g_malloc(size), bytes, size) : NULL;
}

#endif
