/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private folders of a user. See folder.h. */
#include "cli/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Checks the open folder, which can no longer be replaced. */
static bool is_private_folder(int fd, char *why, size_t size)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        snprintf(why, size, "cannot be examined: %s", strerror(errno));
    else if (st.st_uid != geteuid())
        snprintf(why, size, "belongs to another user (uid %u): remove it", (unsigned)st.st_uid);
    else if (st.st_mode & (S_IWGRP | S_IWOTH))
        snprintf(why, size, "other users may write to it (mode %04o): remove it",
                 (unsigned)st.st_mode & 07777u);
    return !why[0];
}

int folder_open_private(const char *path, char *why, size_t size)
{
    int fd;

    why[0] = '\0';
    if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST) {
        snprintf(why, size, "cannot be created: %s", strerror(errno));
        return -1;
    }
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
        snprintf(why, size, "is no folder: remove it");
    else if (fd < 0)
        snprintf(why, size, "cannot be opened: %s", strerror(errno));
    if (fd < 0 || is_private_folder(fd, why, size))
        return fd;
    close(fd);
    return -1;
}
