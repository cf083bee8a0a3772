/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See sysfs.h. */
#include "probe/sysfs.h"

#include <stdarg.h>

char *sysfs_read(const char *folder, ...)
{
    va_list parts;
    va_start(parts, folder);
    char *path = g_build_filename_valist(folder, &parts), *text = NULL;
    va_end(parts);
    if (!g_file_get_contents(path, &text, NULL, NULL))
        text = g_strdup("");
    g_free(path);
    return g_strstrip(text);
}
