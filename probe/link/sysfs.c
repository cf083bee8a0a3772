/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See sysfs.h. */
#include "probe/link/sysfs.h"

char *sysfs_read(const char *folder, const char *file)
{
    char *path = g_build_filename(folder, file, NULL), *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        text = g_strdup("");
    g_free(path);
    return g_strstrip(text);
}

char *sysfs_interface(const char *name, const char *attribute)
{
    char *folder = g_build_filename("/sys/class/net", name, NULL),
         *text = sysfs_read(folder, attribute);
    g_free(folder);
    return text;
}

bool sysfs_is_in_vrf(const char *interface)
{
    /* Bonds, bridges and teams have a DEVTYPE; a VRF has none. */
    char *master = sysfs_interface(interface, "master/uevent");
    bool is = *master && !strstr(master, "DEVTYPE=");
    g_free(master);
    return is;
}

bool sysfs_is_connected(const char *interface)
{
    char *mode = sysfs_interface(interface, "mode");
    bool is = strcmp(mode, "connected") == 0;
    g_free(mode);
    return is;
}
