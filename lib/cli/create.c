/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creates a file with a single writer. See create.h. */
#include "cli/create.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "cli/fail.h"

enum {
    LINKS_MAX = 40, /* the kernel's limit: path_resolution(7) */
    LOCK_TRIES = 10,
    LOCK_STEP_MS = 10,
    FLAGS = O_WRONLY | O_CREAT | O_CLOEXEC,
};

const char create_is_locked[] = "another capture is writing this file";

/* A name in an open folder, so that the folder cannot be replaced between two steps. */
struct file_place {
    int folder;
    char name[PATH_MAX];
};

/* Moves PLACE to PATH, which is relative to its folder. */
static bool go(struct file_place *place, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char folder[PATH_MAX];
    int before = place->folder;

    if (strlen(path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(name - path) : 1, slash ? path : ".");
    place->folder = openat(before, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (before != AT_FDCWD)
        close(before);
    snprintf(place->name, sizeof(place->name), "%s", name[0] ? name : ".");
    return place->folder >= 0;
}

/*
 * Same rule as the kernel's protected_symlinks (sysctl(5)), which is not enabled on every system:
 * in a sticky, world-writable folder, a link is followed only if it belongs to this user, to the
 * folder's owner, or to root, who needs no such trap.
 */
static bool is_trap(int folder, const struct stat *link)
{
    struct stat st;

    if (fstat(folder, &st) != 0)
        return true;
    return (st.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH) && link->st_uid != 0 &&
           link->st_uid != geteuid() && link->st_uid != st.st_uid;
}

/*
 * Whether the folder is in /proc. Only the kernel can follow the links of /proc/PID/fd, because
 * their target need not have a path.
 */
static bool is_proc(int folder)
{
    struct statfs fs;

    return fstatfs(folder, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Reads the target of LINK, which is at PLACE, unless the link is a trap. */
static bool read_link(const struct file_place *place, int link, char target[PATH_MAX],
                      GError **error)
{
    struct stat st;
    ssize_t n;

    if (fstat(link, &st) != 0)
        return false;
    if (!S_ISLNK(st.st_mode)) {
        errno = EACCES;
        return false;
    }
    if (is_trap(place->folder, &st)) {
        fail_with(
            error,
            "a symbolic link of another user (uid %u) in a folder that all users may write to: "
            "remove it, or name another file",
            (unsigned)st.st_uid);
        errno = EACCES;
        return false;
    }
    n = readlinkat(link, "", target, PATH_MAX - 1);
    if (n < 0)
        return false;
    target[n] = '\0';
    return true;
}

/* Moves PLACE to the target of the link there. */
static bool follow(struct file_place *place, GError **error)
{
    int link = openat(place->folder, place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC), saved;
    char target[PATH_MAX];
    bool good = link >= 0 && read_link(place, link, target, error);

    saved = errno;
    if (link >= 0)
        close(link);
    errno = saved;
    return good && go(place, target);
}

static int open_at(struct file_place *place, const char *path, GError **error)
{
    if (!go(place, path))
        return -1;
    for (int links = 0; links <= LINKS_MAX; links++) {
        bool proc = is_proc(place->folder);
        int fd = openat(place->folder, place->name, proc ? FLAGS : FLAGS | O_NOFOLLOW,
                        S_IRUSR | S_IWUSR);

        /* EACCES also for a link in a sticky folder (may_create_in_sticky in the kernel) */
        if (fd >= 0 || (errno != ELOOP && errno != EACCES) || proc)
            return fd;
        if (!follow(place, error))
            return -1;
    }
    errno = ELOOP;
    return -1;
}

/*
 * Locks the file. Retries, because a program that tests whether the file is locked holds the lock
 * briefly.
 */
static bool lock(int fd)
{
    const struct timespec step = {.tv_nsec = LOCK_STEP_MS * 1000000L};

    for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK) /* the file system has no locks */
            return true;
        if (i == LOCK_TRIES) {
            errno = EWOULDBLOCK;
            return false;
        }
        nanosleep(&step, NULL);
    }
    return true;
}

/* Locks a regular file before truncating it. Pipes and devices may have several writers. */
static bool occupy(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && (!S_ISREG(st.st_mode) || (lock(fd) && ftruncate(fd, 0) == 0));
}

/* TRAP: the message about a link that must not be followed, or NULL. It is moved to *ERROR. */
static void fail_to_create(GError **error, GError *trap, int number)
{
    if (trap)
        g_propagate_error(error, trap);
    else if (number == EWOULDBLOCK)
        fail_with(error, "%s", create_is_locked);
    else
        fail_with(error, "cannot be created: %s", strerror(number));
}

static int open_new_at(struct file_place *place, const char *path)
{
    return go(place, path) ? openat(place->folder, place->name, FLAGS | O_EXCL, S_IRUSR | S_IWUSR)
                           : -1;
}

static int create(const char *path, bool is_new, GError **error)
{
    struct file_place place = {.folder = AT_FDCWD};
    GError *trap = NULL;
    int fd = is_new ? open_new_at(&place, path) : open_at(&place, path, &trap), number = errno;

    if (fd >= 0 && !occupy(fd)) {
        number = errno;
        close(fd);
        fd = -1;
    }
    if (place.folder >= 0)
        close(place.folder);
    if (fd < 0)
        fail_to_create(error, trap, number);
    errno = number;
    return fd;
}

int create_file(const char *path, GError **error)
{
    return create(path, false, error);
}

int create_new_file(const char *path, GError **error)
{
    return create(path, true, error);
}
