/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens an output with a single writer. See create.h. */
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
#include "cli/user.h"

enum {
    REPLACED_TRIES = 10, /* while others create, remove and replace the file */
    LOCK_TRIES = 10,
    LOCK_STEP_MS = 10,
    PRIVATE = S_IRUSR | S_IWUSR,
    ALL = S_IRWXU | S_IRWXG | S_IRWXO,
};

const char create_is_locked[] = "another program holds a lock on this file";

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

static bool limit_owner(const struct access_limit *limit, const struct stat *st, GError **error)
{
    return access_suits_owner(limit, st->st_uid) ||
           fail_with(error,
                     "belongs to another user (uid %u%s), who cannot read the input: remove it, "
                     "or write to another file",
                     (unsigned)st->st_uid, user_note(st->st_uid));
}

static bool limit_mode(int fd, const struct access_limit *limit, const struct stat *st,
                       GError **error)
{
    int number = access_set(fd, limit, st->st_mode & ALL);

    return !number ||
           fail_with(error, "has more readers than the input, and its mode cannot be changed: %s",
                     strerror(number));
}

/*
 * Pipes and devices may have several writers. What the caller of the program opened can be locked
 * by the caller, and belong to the caller: "sudo PROGRAM /dev/stdout > FILE".
 */
static bool occupy(int fd, const struct place *place, const struct access_limit *limit,
                   GError **error)
{
    bool is_callers = place->descriptor >= 0;
    struct stat st;

    if (fstat(fd, &st) != 0)
        return false;
    if (!S_ISREG(st.st_mode))
        return true;
    if (!is_callers && !lock(fd))
        return false;
    errno = EACCES;
    return (is_callers || limit_owner(limit, &st, error)) && limit_mode(fd, limit, &st, error);
}

static int occupied(int fd, const struct place *place, const struct access_limit *limit,
                    GError **error)
{
    int number;

    if (fd < 0 || occupy(fd, place, limit, error))
        return fd;
    number = errno;
    close(fd);
    errno = number;
    return -1;
}

int create_at(const struct place *place, const struct access_limit *limit, GError **error)
{
    return occupied(place_open(place, O_WRONLY), place, limit, error);
}

bool create_empty(int fd)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);

    if (fstat(fd, &st) != 0 || flags < 0)
        return false;
    return !S_ISREG(st.st_mode) || flags & O_APPEND || ftruncate(fd, lseek(fd, 0, SEEK_CUR)) == 0;
}

/* Opens what exists at PATH, or creates it. Returns -1 with errno, and perhaps with a refusal. */
static int open_or_create(const char *path, const struct access_limit *limit, GError **refusal)
{
    struct place place;
    int error = place_find(&place, path, refusal), fd = -1;

    if (!error) {
        fd = place.exists ? create_at(&place, limit, refusal)
                          : occupied(place_create(&place, PRIVATE), &place, limit, refusal);
        error = errno;
        if (place.exists ? error == ENOENT : error == EEXIST)
            error = ESTALE;
    }
    place_clear(&place);
    errno = error;
    return fd;
}

static int open_new(const char *path, GError **refusal)
{
    struct place place;
    int error = place_find_folder(&place, path, refusal), fd = -1;

    if (!error) {
        fd = occupied(place_create(&place, PRIVATE), &place, &access_unlimited, refusal);
        error = errno;
    }
    place_clear(&place);
    errno = error;
    return fd;
}

/*
 * REFUSAL: the message about a file that must not be written, or NULL. It is moved to *ERROR. Keeps
 * errno. Returns FD.
 */
static int result(int fd, GError *refusal, GError **error)
{
    int number = errno;

    if (refusal)
        g_propagate_error(error, refusal);
    else if (fd < 0 && number == EWOULDBLOCK)
        fail_with(error, "%s", create_is_locked);
    else if (fd < 0)
        fail_with(error, "cannot be written: %s", strerror(number));
    errno = number;
    return fd;
}

int create_file(const char *path, const struct access_limit *limit, GError **error)
{
    GError *refusal = NULL;
    int fd = open_or_create(path, limit, &refusal);

    for (int i = 0; fd < 0 && errno == ESTALE && i < REPLACED_TRIES; i++)
        fd = open_or_create(path, limit, &refusal);
    return result(fd, refusal, error);
}

int create_new_file(const char *path, GError **error)
{
    GError *refusal = NULL;
    int fd = open_new(path, &refusal);

    return result(fd, refusal, error);
}
