/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creating a file that one program alone writes. See create.h. */
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

enum {
    LINKS_MAX = 40, /* the kernel's: path_resolution(7) */
    LOCK_TRIES = 10,
    LOCK_STEP_MS = 10,
    FLAGS = O_WRONLY | O_CREAT | O_CLOEXEC,
};

const char create_is_locked[] = "another capture is writing this file";

/* A name in a folder that is open, so that nobody can replace the folder in between. */
struct place {
    int folder;
    char name[PATH_MAX];
};

/* Leaves PLACE at PATH, which is relative to its folder. */
static bool go(struct place *place, const char *path)
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
 * The rule of the kernel's protected_symlinks (sysctl(5)), which not every system has switched on:
 * in a sticky folder that all may write to, a link is followed if it is the user's own, or the
 * folder's owner has put it there. Root's are too: root needs no trap.
 */
static bool is_trap(int folder, const struct stat *link)
{
    struct stat st;

    if (fstat(folder, &st) != 0)
        return true;
    return (st.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH) && link->st_uid != 0 &&
           link->st_uid != geteuid() && link->st_uid != st.st_uid;
}

/* The links of /proc/PID/fd name what no path need lead to: the kernel alone can follow them. */
static bool is_proc(int folder)
{
    struct statfs fs;

    return fstatfs(folder, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Reads the link LINK, which is at PLACE, unless it is a trap. */
static bool read_link(const struct place *place, int link, char target[PATH_MAX], char *why,
                      size_t size)
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
        snprintf(
            why, size,
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

/* Leaves PLACE at what the link there names. */
static bool follow(struct place *place, char *why, size_t size)
{
    int link = openat(place->folder, place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC), error;
    char target[PATH_MAX];
    bool good = link >= 0 && read_link(place, link, target, why, size);

    error = errno;
    if (link >= 0)
        close(link);
    errno = error;
    return good && go(place, target);
}

static int open_at(struct place *place, const char *path, char *why, size_t size)
{
    if (!go(place, path))
        return -1;
    for (int links = 0; links <= LINKS_MAX; links++) {
        bool proc = is_proc(place->folder);
        int fd = openat(place->folder, place->name, proc ? FLAGS : FLAGS | O_NOFOLLOW,
                        S_IRUSR | S_IWUSR);

        /* EACCES: of a link too, in a sticky folder (the kernel's may_create_in_sticky) */
        if (fd >= 0 || (errno != ELOOP && errno != EACCES) || proc)
            return fd;
        if (!follow(place, why, size))
            return -1;
    }
    errno = ELOOP;
    return -1;
}

/* One who looks whether the file is locked has it locked for a moment. */
static bool lock(int fd)
{
    const struct timespec step = {.tv_nsec = LOCK_STEP_MS * 1000000L};

    for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK) /* a file system without locks */
            return true;
        if (i == LOCK_TRIES) {
            errno = EWOULDBLOCK;
            return false;
        }
        nanosleep(&step, NULL);
    }
    return true;
}

/* The lock comes before the old content goes. Pipes and devices have any number of writers. */
static bool take(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && (!S_ISREG(st.st_mode) || (lock(fd) && ftruncate(fd, 0) == 0));
}

int create_file(const char *path, char *why, size_t size)
{
    struct place place = {.folder = AT_FDCWD};
    int fd, error;

    why[0] = '\0';
    fd = open_at(&place, path, why, size);
    error = errno;
    if (fd >= 0 && !take(fd)) {
        error = errno;
        close(fd);
        fd = -1;
    }
    if (place.folder >= 0)
        close(place.folder);
    if (fd < 0 && error == EWOULDBLOCK)
        snprintf(why, size, "%s", create_is_locked);
    else if (fd < 0 && !why[0])
        snprintf(why, size, "cannot be created: %s", strerror(error));
    errno = error;
    return fd;
}
