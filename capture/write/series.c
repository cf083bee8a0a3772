/* SPDX-License-Identifier: GPL-2.0-or-later */
/* File names of a series. See series.h. */
#include "capture/write/series.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

size_t series_stem(const char *path)
{
    const char *base = base_of(path), *dot = strrchr(base, '.');

    return dot && dot != base ? (size_t)(dot - path) : strlen(path);
}

/* Whether NAME belongs to the series of PATH, such as "cap_00001_20240131235959.pcap". */
static bool is_of_series(const char *path, const char *name)
{
    const char *base = base_of(path), *extension = path + series_stem(path);
    size_t stem = (size_t)(extension - base), digits;

    if (strncmp(name, base, stem) != 0 || name[stem] != '_')
        return false;
    name += stem + 1;
    digits = strspn(name, "0123456789");
    if (digits < 5 || name[digits] != '_')
        return false;
    name += digits + 1;
    return strcmp(name + strspn(name, "0123456789"), extension) == 0;
}

/*
 * Whether another process has locked the file. A file that this user cannot read belongs to another
 * user's series and counts as not locked.
 */
static bool is_locked(int folder, const char *name, const struct stat *own)
{
    int fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    bool locked;

    if (fd < 0)
        return false;
    locked = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
             (st.st_dev != own->st_dev || st.st_ino != own->st_ino) &&
             flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return locked;
}

bool series_is_written(const char *path, int own)
{
    char folder[4096];
    bool written = false;
    struct dirent *entry;
    struct stat st;
    DIR *dir;

    snprintf(folder, sizeof(folder), "%.*s.", (int)(base_of(path) - path), path);
    dir = opendir(folder);
    if (!dir || fstat(own, &st) != 0) {
        if (dir)
            closedir(dir);
        return false;
    }
    while (!written && (entry = readdir(dir)) != NULL)
        written = is_of_series(path, entry->d_name) && is_locked(dirfd(dir), entry->d_name, &st);
    closedir(dir);
    return written;
}
