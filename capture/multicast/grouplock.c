/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locks of multicast groups shared by captures on one port. See grouplock.h. */
#include "capture/multicast/grouplock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/fail.h"
#include "cli/folder.h"
#include "hca/mcgroup.h"

/* FNV-1a: the same in all processes, unlike the hash of tables (model/hash.h). */
static uint64_t add_bytes(uint64_t hash, const void *bytes, size_t n)
{
    for (const uint8_t *p = bytes; n > 0; n--)
        hash = (hash ^ *p++) * UINT64_C(1099511628211);
    return hash;
}

/*
 * Offset of the byte that represents the group. If two groups share a byte, they are only left a
 * little later.
 */
static off_t place(const char *device, unsigned port, const uint8_t *mgid)
{
    uint64_t hash = add_bytes(UINT64_C(14695981039346656037), mgid, GID_SIZE);

    hash = add_bytes(hash, device, strlen(device));
    return (off_t)((hash ^ port) & INT64_MAX >> 1);
}

static bool set_lock(int fd, short type, bool wait, off_t at)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    int result;

    if (fd < 0)
        return true;
    do
        result = fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
    while (result != 0 && wait && errno == EINTR);
    return result == 0;
}

/*
 * Chooses a folder that no other user can create first, if there is one: only root creates files in
 * /run, and pam_systemd creates the user's folder in /run/user at login.
 */
static void find_folder(char *path, size_t size)
{
    unsigned uid = (unsigned)geteuid();

    snprintf(path, size, "/run/user/%u", uid);
    if (uid == 0)
        snprintf(path, size, "/run/ipoib-capture");
    else if (access(path, W_OK) == 0)
        snprintf(path, size, "/run/user/%u/ipoib-capture", uid);
    else
        snprintf(path, size, "/run/lock/ipoib-capture-%u", uid);
}

int grouplock_open(GError **error)
{
    GError *why = NULL;
    char path[64];
    int folder, fd;

    find_folder(path, sizeof(path));
    folder = folder_open_private(path, &why);
    if (folder < 0) {
        fail_with(
            error,
            "%s: %s; without this folder, the first capture on a port that ends leaves the groups of all",
            path, why->message);
        g_error_free(why);
        return -1;
    }
    fd = openat(folder, "groups", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        fail_with(
            error,
            "%s/groups: cannot be created: %s; the first capture on a port that ends leaves the groups of all",
            path, strerror(errno));
    close(folder);
    return fd;
}

void grouplock_take(int fd, const char *device, unsigned port, const uint8_t *mgid)
{
    set_lock(fd, F_RDLCK, true, place(device, port, mgid));
}

bool grouplock_is_last(int fd, const char *device, unsigned port, const uint8_t *mgid)
{
    off_t at = place(device, port, mgid);

    set_lock(fd, F_UNLCK, false, at); /* release before the test: of two captures that end at the
                                    same time, one must be the last */
    return set_lock(fd, F_WRLCK, false, at);
}

void grouplock_end(int fd, const char *device, unsigned port, const uint8_t *mgid)
{
    set_lock(fd, F_UNLCK, false, place(device, port, mgid));
}
