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
        if (atoi(entry->d_name) >= first) /* "." and ".." are 0 */
            posix_spawn_file_actions_addclose(files, atoi(entry->d_name));
    if (folder)
        closedir(folder);
}
