/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads ib_ipoib's file of paths: for each a line "GID: fe80:0:0:0:2:c903:0:1", and below it lines
 * as "DLID: 0x0004" if its SA query is complete.
 */
#include "probe/link/hostpath.h"

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/view.h"

enum { GROUPS = 8, GID_TEXT = 48 };

static void write_gid(const uint8_t *gid, char text[GID_TEXT])
{
    int n = 0;
    for (unsigned i = 0; i < GROUPS; i++)
        n += g_snprintf(text + n, (gulong)(GID_TEXT - n), "%s%x", i ? ":" : "",
                        be16(gid + (size_t)2 * i));
}

uint16_t host_path_find(FILE *f, const uint8_t *gid)
{
    char wanted[GID_TEXT], found[GID_TEXT], line[128];
    unsigned long lid = 0;
    bool here = false;
    write_gid(gid, wanted);
    while (!lid && fgets(line, sizeof line, f)) {
        if (sscanf(line, " GID: %47s", found) == 1)
            here = strcmp(found, wanted) == 0;
        else if (here && sscanf(line, " DLID: %47s", found) == 1)
            lid = strtoul(found, NULL, 16);
    }
    return (uint16_t)lid;
}

uint16_t host_path_lid(const char *interface, const uint8_t *gid)
{
    char *name = g_strdup_printf("/sys/kernel/debug/ipoib/%s_path", interface);
    FILE *f = fopen(name, "re");
    uint16_t lid = f ? host_path_find(f, gid) : 0;
    if (f)
        fclose(f);
    g_free(name);
    return lid;
}
