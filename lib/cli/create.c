/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creates a file with a single writer. See create.h. */
#include "cli/create.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/fail.h"
#include "cli/place.h"

enum {
    REPLACED_TRIES = 10, /* while others create, remove and replace the file */
    LOCK_TRIES = 10,
    LOCK_STEP_MS = 10,
};

const char create_is_locked[] = "another capture is writing this file";

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

/* Opens what exists at PATH, or creates it. Returns -1 with errno, and perhaps with a refusal. */
static int open_or_create(const char *path, GError **refusal)
{
    struct place place;
    int error = place_find(&place, path, refusal), fd = -1;

    if (!error) {
        fd = place.exists ? place_open(&place, O_WRONLY) : place_create(&place, S_IRUSR | S_IWUSR);
        error = errno;
        if (place.exists ? error == ENOENT : error == EEXIST)
            error = ESTALE;
    }
    place_clear(&place);
    errno = error;
    return fd;
}

static int open_at(const char *path, GError **refusal)
{
    int fd = open_or_create(path, refusal);

    for (int i = 0; fd < 0 && errno == ESTALE && i < REPLACED_TRIES; i++)
        fd = open_or_create(path, refusal);
    return fd;
}

static int open_new(const char *path, GError **refusal)
{
    struct place place;
    int error = place_find_folder(&place, path, refusal);
    int fd = error ? -1 : place_create(&place, S_IRUSR | S_IWUSR);

    error = error ? error : errno;
    place_clear(&place);
    errno = error;
    return fd;
}

/* REFUSAL: the message about a file that must not be written, or NULL. It is moved to *ERROR. */
static void fail_to_create(GError **error, GError *refusal, int number)
{
    if (refusal)
        g_propagate_error(error, refusal);
    else if (number == EWOULDBLOCK)
        fail_with(error, "%s", create_is_locked);
    else
        fail_with(error, "cannot be created: %s", strerror(number));
}

static int create(const char *path, int (*opened)(const char *, GError **), GError **error)
{
    GError *refusal = NULL;
    int fd = opened(path, &refusal), number = errno;

    if (fd >= 0 && !occupy(fd)) {
        number = errno;
        close(fd);
        fd = -1;
    }
    if (fd < 0)
        fail_to_create(error, refusal, number);
    errno = number;
    return fd;
}

int create_file(const char *path, GError **error)
{
    return create(path, open_at, error);
}

int create_new_file(const char *path, GError **error)
{
    return create(path, open_new, error);
}
