/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private folders of a user. See folder.h. */
#include "cli/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/fail.h"
#include "cli/user.h"

/* Checks the open folder, which can no longer be replaced. */
static bool is_private_folder(int fd, GError **error)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return fail_with(error, "cannot be examined: %s", strerror(errno));
    if (!user_is_same(st.st_uid, geteuid()))
        return fail_with(error, "belongs to another user (uid %u%s): remove it",
                         (unsigned)st.st_uid, user_note(st.st_uid));
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return fail_with(error, "other users may write to it (mode %04o): remove it",
                         (unsigned)st.st_mode & 07777u);
    return true;
}

int folder_open_private(const char *path, GError **error)
{
    int fd;

    if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST) {
        fail_with(error, "cannot be created: %s", strerror(errno));
        return -1;
    }
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
        fail_with(error, "is a link, or no folder: remove it");
    else if (fd < 0)
        fail_with(error, "cannot be opened: %s", strerror(errno));
    if (fd < 0 || is_private_folder(fd, error))
        return fd;
    close(fd);
    return -1;
}
