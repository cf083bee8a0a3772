/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptors that a child process does not inherit. See descriptors.h. */
#include "capture/helper/descriptors.h"

#include <dirent.h>
#include <stdlib.h>

void descriptors_close(posix_spawn_file_actions_t *files, int first)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;

    while (folder && (entry = readdir(folder)))
        if (strtol(entry->d_name, NULL, 10) >= first) /* "." and ".." are 0 */
            posix_spawn_file_actions_addclose(files, (int)strtol(entry->d_name, NULL, 10));
    if (folder)
        closedir(folder);
}
