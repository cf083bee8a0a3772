/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may access an output. See access.h. */
#include "cli/access.h"

#include <errno.h>
#include <glib.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/user.h"

enum {
    ALL = S_IRWXU | S_IRWXG | S_IRWXO,
    PRIVATE = S_IRUSR | S_IWUSR,
    PUBLIC = PRIVATE | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH,
    GROUP_SHIFT = 3,
};

static const char acl[] = "system.posix_acl_access";

const struct access_limit access_unlimited = {.mode = ALL};

/* ---- access control lists */

/* Bytes of the list; 0: the file has none, because a list without further users is its mode. */
static size_t acl_size(int fd)
{
    ssize_t n = fgetxattr(fd, acl, NULL, 0);

    if (n >= 0)
        return (size_t)n;
    return errno == ENODATA || errno == EOPNOTSUPP || errno == ENOSYS ? 0 : 1; /* 1: unknown */
}

static bool copy_acl(int from, int to)
{
    size_t size = acl_size(from);
    void *list = g_malloc(size);
    ssize_t n = fgetxattr(from, acl, list, size);
    bool good = n > 0 && fsetxattr(to, acl, list, (size_t)n, 0) == 0;

    g_free(list);
    return good;
}

/* First no user of the list has access any more, because the group's bits are the list's mask. */
static int remove_acl(int fd, mode_t mode)
{
    return fchmod(fd, mode & S_IRWXU) == 0 && fremovexattr(fd, acl) == 0 ? 0 : errno;
}

/* ---- readers */

struct access_readers access_of(int fd)
{
    struct stat st = {.st_uid = geteuid(), .st_gid = getegid()};
    bool shown = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && acl_size(fd) == 0;

    return (struct access_readers){
        .mode = shown ? st.st_mode & ALL : PRIVATE, .owner = st.st_uid, .group = st.st_gid};
}

/*
 * For a file of another group. The members of either group can be among the others, so all of them
 * get what both classes have.
 */
static mode_t for_any_group(mode_t mode)
{
    mode_t both = mode & S_IRWXO & mode >> GROUP_SHIFT;

    return (mode & S_IRWXU) | both << GROUP_SHIFT | both;
}

void access_narrow(struct access_limit *limit, const struct access_readers *readers)
{
    limit->mode &= readers->mode;
    if (limit->is_limited && limit->group != readers->group)
        limit->mode = for_any_group(limit->mode);
    if (!limit->is_limited)
        limit->owner = readers->owner;
    limit->one_owner = (!limit->is_limited || limit->one_owner) &&
                       user_is_same(limit->owner, readers->owner);
    limit->group = readers->group;
    limit->is_limited = true;
}

bool access_suits_owner(const struct access_limit *limit, uid_t user)
{
    return !limit->is_limited || user_is_trusted(user) ||
           (limit->one_owner && user_is_same(limit->owner, user)) ||
           (for_any_group(limit->mode) & S_IROTH);
}

static mode_t allowed(const struct access_limit *limit, mode_t mode, gid_t group)
{
    bool is_other = limit->is_limited && limit->group != group;

    return mode & (is_other ? for_any_group(limit->mode) : limit->mode);
}

/* ---- setting */

int access_set(int fd, const struct access_limit *limit, mode_t mode)
{
    bool has_acl = limit->is_limited && acl_size(fd) > 0;
    int error = has_acl ? remove_acl(fd, mode) : 0;
    struct stat st;

    if (!error && fstat(fd, &st) != 0)
        error = errno;
    if (error)
        return error;
    mode = allowed(limit, has_acl ? mode & S_IRWXU : mode, st.st_gid);
    return mode == (st.st_mode & ALL) || fchmod(fd, mode) == 0 ? 0 : errno;
}

/*
 * Instead of the list that the new file has from its folder. Returns the mode that remains of WAS:
 * only the owner's bits if the list cannot be kept.
 */
static mode_t keep_acl(int fd, const struct access_limit *limit, int old, mode_t was)
{
    bool has = old < 0 || acl_size(old) > 0;

    if (acl_size(fd) > 0)
        remove_acl(fd, was);
    if (!has || (!limit->is_limited && old >= 0 && copy_acl(old, fd)))
        return was & ALL;
    return was & S_IRWXU;
}

/* If it cannot be given away, it stays a file of this user. */
static void keep_owner(int fd, const struct access_limit *limit, uid_t owner)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || st.st_uid == owner || !access_suits_owner(limit, owner) ||
        fchown(fd, owner, (gid_t)-1) != 0)
        return;
}

int access_keep(int fd, const struct access_limit *limit, int old, const struct stat *was)
{
    mode_t mode = keep_acl(fd, limit, old, was->st_mode);
    struct stat st;
    int error;

    if (fstat(fd, &st) != 0)
        return errno;
    if (st.st_gid != was->st_gid && fchown(fd, (uid_t)-1, was->st_gid) != 0)
        mode = for_any_group(mode);
    error = access_set(fd, limit, mode);
    if (!error)
        keep_owner(fd, limit, was->st_uid);
    return error;
}

mode_t access_of_new(void)
{
    mode_t mask = umask(ALL);

    umask(mask);
    return PUBLIC & ~mask;
}
