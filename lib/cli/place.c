/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where an output file is. See place.h. */
#include "cli/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/fail.h"

enum {
    LINKS_MAX = 40, /* the kernel's limit: path_resolution(7) */
    RANDOM_LEN = 12,
    OTHERS_WRITE = S_IWGRP | S_IWOTH,
    FOLDER = O_PATH | O_DIRECTORY | O_CLOEXEC,
    NEW = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
};

/* ---- the rule */

static bool is_trusted(uid_t user)
{
    return user == 0 || user == geteuid();
}

enum answer { NO, YES, AS_ABOVE };

/* is_owners_place() of FOLDER; AS_ABOVE: the answer is that for ABOVE, the folder above it. */
static enum answer look_at(int folder, int above)
{
    struct stat st, up;

    if (fstat(folder, &st) != 0 || fstat(above, &up) != 0)
        return NO;
    if (st.st_dev == up.st_dev && st.st_ino == up.st_ino) /* the root */
        return YES;
    if (up.st_mode & OTHERS_WRITE && up.st_uid != st.st_uid)
        return NO;
    return is_trusted(up.st_uid) ? YES : AS_ABOVE;
}

/*
 * Whether only the folder's owner, this user and root could have created FOLDER under its name.
 * Looks at the folders above it.
 */
static bool is_owners_place(int folder)
{
    int at = openat(folder, ".", FOLDER), above;
    enum answer answer = at < 0 ? NO : AS_ABOVE;

    while (answer == AS_ABOVE) {
        above = openat(at, "..", FOLDER);
        answer = above < 0 ? NO : look_at(at, above);
        close(at);
        at = above;
    }
    if (at >= 0)
        close(at);
    return answer == YES;
}

static const char *kind_of(const struct stat *st)
{
    return S_ISLNK(st->st_mode)    ? "a symbolic link"
           : S_ISFIFO(st->st_mode) ? "a FIFO"
           : S_ISREG(st->st_mode)  ? "a file"
                                   : "a special file";
}

static const char what_to_do[] = "remove it, or name a file in another folder";

/* The first part of the rule. IN: the folder. */
static bool is_private(const struct stat *in)
{
    return is_trusted(in->st_uid) && !(in->st_mode & OTHERS_WRITE);
}

/* Applies the first two parts of the rule to ST, which NAME in FOLDER is. */
static int check_entry(int folder, const char *name, const struct stat *st, GError **refusal)
{
    struct stat in;

    if (fstat(folder, &in) != 0)
        return errno;
    if (is_private(&in))
        return 0;
    if (!is_trusted(st->st_uid) && (st->st_uid != in.st_uid || !is_owners_place(folder)))
        fail_with(refusal,
                  "%s is %s of another user (uid %u) in a folder that others can write to: %s",
                  name, kind_of(st), (unsigned)st->st_uid, what_to_do);
    else if (st->st_nlink > 1)
        fail_with(refusal,
                  "%s has another name (a hard link), and others can write to its folder: %s", name,
                  what_to_do);
    else
        return 0;
    return EACCES;
}

/* ---- the way to the file */

struct way {
    struct place *place;
    GString *rest; /* of the path, from the folder on */
    unsigned links;
    uid_t link_owner; /* of the links so far to which the third part of the rule applies; or 0 */
    GError **refusal;
};

/* Moves to FOLDER, which may be a failed open. */
static int move_to(struct way *way, int folder)
{
    int number = errno;

    if (folder < 0)
        return number;
    if (way->place->folder >= 0)
        close(way->place->folder);
    way->place->folder = folder;
    return 0;
}

/* Starts at the root or the current folder, if REST does. */
static int start(struct way *way)
{
    if (way->rest->str[0] == '/')
        return move_to(way, open("/", FOLDER));
    return way->place->folder >= 0 ? 0 : move_to(way, open(".", FOLDER));
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

/* Remembers for the third part of the rule whose link this is. */
static int note_owner(struct way *way, const struct stat *link)
{
    struct stat in;

    if (fstat(way->place->folder, &in) != 0)
        return errno;
    if (is_private(&in) || is_trusted(link->st_uid))
        return 0;
    if (way->link_owner && way->link_owner != link->st_uid) {
        fail_with(way->refusal, "symbolic links of two other users (uid %u and %u) lead there: %s",
                  (unsigned)way->link_owner, (unsigned)link->st_uid, what_to_do);
        return EACCES;
    }
    way->link_owner = link->st_uid;
    return 0;
}

/* Follows LINK, the open symbolic link of the place: its target is put before the rest. */
static int follow_open(struct way *way, int link, const struct stat *st)
{
    char target[PATH_MAX];
    ssize_t n;
    int error = check_entry(way->place->folder, way->place->name, st, way->refusal);

    if (!error)
        error = note_owner(way, st);
    if (error)
        return error;
    if (++way->links > LINKS_MAX)
        return ELOOP;
    n = readlinkat(link, "", target, sizeof(target));
    if (n <= 0 || (size_t)n == sizeof(target))
        return n < 0 ? errno : n == 0 ? ENOENT : ENAMETOOLONG;
    g_string_prepend_len(way->rest, target, n);
    return start(way);
}

/* Examines the entry with the place's name. Sets *FOLLOWED if it was a link, which is followed. */
static int examine(struct way *way, bool *followed)
{
    struct place *p = way->place;
    int entry = openat(p->folder, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC), error = 0;

    *followed = false;
    if (entry < 0)
        return errno;
    if (fstat(entry, &p->stat) != 0)
        error = errno;
    else if ((*followed = S_ISLNK(p->stat.st_mode)))
        error = follow_open(way, entry, &p->stat);
    close(entry);
    return error;
}

/* Takes the next name from the rest, which keeps the slash after it. */
static int take_name(struct way *way)
{
    size_t slashes = strspn(way->rest->str, "/"), len;

    g_string_erase(way->rest, 0, (gssize)slashes);
    len = strcspn(way->rest->str, "/");
    if (len > NAME_MAX)
        return ENAMETOOLONG;
    snprintf(way->place->name, sizeof(way->place->name), "%.*s", len ? (int)len : 1,
             len ? way->rest->str : ".");
    g_string_erase(way->rest, 0, (gssize)len);
    return 0;
}

/* Enters the folder with the place's name, or follows the link there. */
static int enter(struct way *way)
{
    struct place *p = way->place;
    bool followed;
    int error, flags = is_proc(p->folder) ? FOLDER : FOLDER | O_NOFOLLOW;

    error = move_to(way, openat(p->folder, p->name, flags));
    if (error != ENOTDIR && error != ELOOP)
        return error;
    error = examine(way, &followed);
    return error ? error : followed ? 0 : ENOTDIR;
}

/* Enters all folders before the last name, which is then the place's. */
static int enter_folders(struct way *way)
{
    int error = take_name(way);

    while (!error && way->rest->str[0] == '/') {
        error = enter(way);
        if (!error)
            error = take_name(way);
    }
    return error;
}

/* The third part of the rule, for the end of the way. */
static int check_owner(const struct way *way)
{
    const struct place *p = way->place;
    struct stat in;

    if (!way->link_owner)
        return 0;
    if (!p->exists && fstat(p->folder, &in) != 0)
        return errno;
    if ((p->exists ? p->stat.st_uid : in.st_uid) == way->link_owner)
        return 0;
    fail_with(way->refusal,
              "a symbolic link of another user (uid %u) leads to %s, which is not that user's: %s",
              (unsigned)way->link_owner, p->name, what_to_do);
    return EACCES;
}

/* Follows the links at the end of the way, and examines what is there. */
static int find_end(struct way *way)
{
    struct place *p = way->place;
    bool followed = true;
    int error = 0;

    while (!error && followed) {
        error = enter_folders(way);
        p->by_kernel = !error && is_proc(p->folder);
        if (error || p->by_kernel)
            break;
        error = examine(way, &followed);
    }
    p->exists = !error;
    if (error == ENOENT && !followed)
        error = 0;
    if (!error && p->exists && !p->by_kernel && !S_ISDIR(p->stat.st_mode))
        error = check_entry(p->folder, p->name, &p->stat, way->refusal);
    return error || p->by_kernel ? error : check_owner(way);
}

/* For a file that must not exist. */
static int find_folder(struct way *way)
{
    int error = enter_folders(way);

    return error ? error : check_owner(way);
}

static int go(struct place *place, const char *path, GError **refusal, int (*find)(struct way *))
{
    struct way way = {.place = place, .rest = g_string_new(path), .refusal = refusal};
    int error;

    *place = (struct place){.folder = -1};
    error = path[0] ? start(&way) : ENOENT;
    if (!error)
        error = find(&way);
    g_string_free(way.rest, TRUE);
    return error;
}

int place_find(struct place *place, const char *path, GError **refusal)
{
    return go(place, path, refusal, find_end);
}

int place_find_folder(struct place *place, const char *path, GError **refusal)
{
    return go(place, path, refusal, find_folder);
}

void place_clear(struct place *place)
{
    if (place->folder >= 0)
        close(place->folder);
    place->folder = -1;
}

/* ---- opening */

int place_open(const struct place *place, int flags)
{
    struct stat st;
    int fd;

    flags |= O_CLOEXEC | O_NOCTTY;
    if (place->by_kernel)
        return openat(place->folder, place->name, flags);
    fd = openat(place->folder, place->name, flags | O_NOFOLLOW);
    if (fd < 0 ||
        (fstat(fd, &st) == 0 && st.st_dev == place->stat.st_dev && st.st_ino == place->stat.st_ino))
        return fd;
    close(fd);
    errno = ESTALE;
    return -1;
}

int place_create(const struct place *place, mode_t mode)
{
    return openat(place->folder, place->name, NEW, mode);
}

int place_create_beside(const struct place *place, mode_t mode, char name[NAME_MAX + 1])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    uint8_t random[RANDOM_LEN];
    char suffix[RANDOM_LEN + 1] = "";

    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return -1;
    for (size_t i = 0; i < sizeof(random); i++)
        suffix[i] = letters[random[i] % (sizeof(letters) - 1)];
    snprintf(name, NAME_MAX + 1, "%.*s.%s", NAME_MAX - RANDOM_LEN - 1, place->name, suffix);
    return openat(place->folder, name, NEW, mode);
}
