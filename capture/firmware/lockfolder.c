/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mstflint's lock folder. See lockfolder.h. */
#include "capture/firmware/lockfolder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/fail.h"
#include "cli/folder.h"

/* The library's own path, which no variable changes. */
#define PARENT "/tmp"
#define FOLDER PARENT "/mstflint_lockfiles"

/* Nobody else may rename or replace root's folder in it. */
static bool check_parent(GError **error)
{
    struct stat st;

    if (lstat(PARENT, &st) != 0)
        return fail_with(error, PARENT ": %s", strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return fail_with(error,
                         PARENT " must be a folder, and no link: mstflint's library creates "
                                "its lock files there; make a folder of it, or mount one on it");
    if (st.st_uid != 0 || ((st.st_mode & (S_IWGRP | S_IWOTH)) && !(st.st_mode & S_ISVTX)))
        return fail_with(error,
                         PARENT " must belong to root and have the sticky bit: chown root " PARENT
                                "; chmod 1777 " PARENT);
    return true;
}

static bool check_file(int folder, const char *pci, const char *kind, GError **error)
{
    char name[64];
    struct stat st;

    snprintf(name, sizeof(name), "%s_%s", pci, kind);
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT || fail_with(error, FOLDER "/%s: %s", name, strerror(errno));
    return (S_ISREG(st.st_mode) && st.st_uid == 0 && st.st_nlink == 1) ||
           fail_with(error, FOLDER "/%s is no plain file of root: remove it", name);
}

bool lockfolder_check(const char *pci, GError **error)
{
    int folder;
    bool good;

    if (!check_parent(error))
        return false;
    folder = folder_open_private(FOLDER, error);
    if (folder < 0) {
        g_prefix_error(error, "mstflint's lock folder " FOLDER ": ");
        return false;
    }
    good = check_file(folder, pci, "config", error) && check_file(folder, pci, "mem", error);
    close(folder);
    return good;
}
