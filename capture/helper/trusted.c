/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that only root can change. See trusted.h. */
#include "capture/helper/trusted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/fail.h"

/* Whether only root can change what is at PATH. */
static bool is_roots(const char *path, GError **error)
{
    struct stat st;

    if (lstat(path, &st) != 0)
        return fail_with(error, "%s: %s", path, strerror(errno));
    if (st.st_uid != 0)
        return fail_with(error, "%s belongs to another user than root (uid %u)", path,
                         (unsigned)st.st_uid);
    if (!S_ISLNK(st.st_mode) && (st.st_mode & (S_IWGRP | S_IWOTH)))
        return fail_with(error, "others than root may write to %s (mode %04o)", path,
                         (unsigned)st.st_mode & 07777u);
    return true;
}

/* PATH has no links: the folders on the way to the file, from / on, and the file. */
static bool are_all_roots(const char *path, GError **error)
{
    char folder[PATH_MAX];

    if (!is_roots("/", error))
        return false;
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        memcpy(folder, path, (size_t)(slash - path));
        folder[slash - path] = '\0';
        if (!is_roots(folder, error))
            return false;
    }
    return is_roots(path, error);
}

bool trusted_file(const char *path, char real[PATH_MAX], GError **error)
{
    if (path[0] != '/')
        return fail_with(error, "%s is not an absolute path", path);
    if (!realpath(path, real))
        return fail_with(error, "%s: %s", path, strerror(errno));
    return are_all_roots(real, error);
}
