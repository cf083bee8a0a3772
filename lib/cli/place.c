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
#include "cli/user.h"

enum {
    LINKS_MAX = 40, /* the kernel's limit: path_resolution(7) */
    RANDOM_LEN = 12,
    OTHERS_WRITE = S_IWGRP | S_IWOTH,
    FOLDER = O_PATH | O_DIRECTORY | O_CLOEXEC,
    NEW = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
};

/* ---- the rule */

enum answer { NO, YES, AS_ABOVE };

/* is_owners_place() of FOLDER; AS_ABOVE: the answer is that for ABOVE, the folder above it. */
static enum answer look_at(int folder, int above)
{
    struct stat st, up;

    if (fstat(folder, &st) != 0 || fstat(above, &up) != 0)
        return NO;
    if (st.st_dev == up.st_dev && st.st_ino == up.st_ino) /* the root */
        return YES;
    if (up.st_mode & OTHERS_WRITE && !user_is_same(up.st_uid, st.st_uid))
        return NO;
    return user_is_trusted(up.st_uid) ? YES : AS_ABOVE;
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

/* Also false for a descriptor that is no file: a failed open. */
static bool is_same_file(int one, int other)
{
    struct stat a, b;

    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static const char *kind_of(const struct stat *st)
{
    return S_ISLNK(st->st_mode)    ? "a symbolic link"
           : S_ISFIFO(st->st_mode) ? "a FIFO"
           : S_ISREG(st->st_mode)  ? "a file"
           : S_ISDIR(st->st_mode)  ? "a directory"
           : S_ISSOCK(st->st_mode) ? "a socket"
                                   : "a special file";
}

static const char what_to_do[] = "remove it, or name a file in another folder";

/* The first part of the rule. IN: the folder. */
static bool is_private(const struct stat *in)
{
    return user_is_trusted(in->st_uid) && !(in->st_mode & OTHERS_WRITE);
}

/* Only root can make a device, also where root's number is not mapped (cli/user.h). */
static bool is_trusted_entry(const struct stat *st)
{
    return user_is_trusted(st->st_uid) || S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode);
}

/* Applies the first two parts of the rule to ST, which NAME in FOLDER is. */
static int check_entry(int folder, const char *name, const struct stat *st, GError **refusal)
{
    struct stat in;

    if (fstat(folder, &in) != 0)
        return errno;
    if (is_private(&in))
        return 0;
    if (!is_trusted_entry(st) && (!user_is_same(st->st_uid, in.st_uid) || !is_owners_place(folder)))
        fail_with(refusal,
                  "%s is %s of another user (uid %u%s) in a folder that others can write to: %s",
                  name, kind_of(st), (unsigned)st->st_uid, user_note(st->st_uid), what_to_do);
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

/* Remembers for the third part of the rule whose link this is. */
static int note_owner(struct way *way, const struct stat *link)
{
    struct stat in;

    if (fstat(way->place->folder, &in) != 0)
        return errno;
    if (is_private(&in) || user_is_trusted(link->st_uid))
        return 0;
    if (way->link_owner && !user_is_same(way->link_owner, link->st_uid)) {
        fail_with(way->refusal, "symbolic links of two other users (uid %u and %u) lead there: %s",
                  (unsigned)way->link_owner, (unsigned)link->st_uid, what_to_do);
        return EACCES;
    }
    way->link_owner = link->st_uid;
    return 0;
}

/* ---- /proc, whose links only the kernel can follow: their target need not have a path */

static bool is_proc(int folder)
{
    struct statfs fs;

    return fstatfs(folder, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Whether the folder is that of the program's own descriptors, which /dev/fd is a link to. */
static bool is_own_descriptors(int folder)
{
    int own = open("/proc/self/fd", FOLDER);
    bool same = is_same_file(own, folder);

    if (own >= 0)
        close(own);
    return same;
}

/* Applies the rule to the name in /proc, before the kernel follows it. */
static int check_link_of_proc(struct way *way)
{
    const struct place *p = way->place;
    struct stat st;
    int error;

    if (way->link_owner) {
        fail_with(way->refusal, "a symbolic link of another user (uid %u) leads to /proc: %s",
                  (unsigned)way->link_owner, what_to_do);
        return EACCES;
    }
    if (fstatat(p->folder, p->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno;
    if (!S_ISLNK(st.st_mode) || is_own_descriptors(p->folder))
        return 0;
    error = check_entry(p->folder, p->name, &st, way->refusal);
    return error ? error : note_owner(way, &st);
}

/* The end of the way is in /proc. */
static int examine_proc(struct way *way)
{
    struct place *p = way->place;
    int error = check_link_of_proc(way);

    p->by_kernel = true;
    if (!error && fstatat(p->folder, p->name, &p->stat, 0) != 0)
        error = errno;
    if (!error && is_own_descriptors(p->folder))
        p->descriptor = (int)g_ascii_strtoull(p->name, NULL, 10);
    return error;
}

/* ---- other links */

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
    int error;

    if (is_proc(p->folder)) {
        error = check_link_of_proc(way);
        return error ? error : move_to(way, openat(p->folder, p->name, FOLDER));
    }
    error = move_to(way, openat(p->folder, p->name, FOLDER | O_NOFOLLOW));
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
    if (user_is_same(p->exists ? p->stat.st_uid : in.st_uid, way->link_owner))
        return 0;
    fail_with(way->refusal,
              "a symbolic link of another user (uid %u) leads to %s, which is not that user's: %s",
              (unsigned)way->link_owner, p->name, what_to_do);
    return EACCES;
}

/* What is at the end of the way can be no output at all. */
static int check_kind(const struct way *way)
{
    const struct place *p = way->place;
    bool usable = !S_ISDIR(p->stat.st_mode) && (p->by_kernel || !S_ISSOCK(p->stat.st_mode));

    if (usable)
        return 0;
    fail_with(way->refusal, "is %s: name a file", kind_of(&p->stat));
    return EISDIR;
}

/* Examines what is at the end of the way, after all links. */
static int check_end(const struct way *way)
{
    const struct place *p = way->place;
    int error = p->exists ? check_kind(way) : 0;

    if (!error && p->exists && !p->by_kernel)
        error = check_entry(p->folder, p->name, &p->stat, way->refusal);
    return error ? error : check_owner(way);
}

/* Follows the links at the end of the way. */
static int find_end(struct way *way)
{
    struct place *p = way->place;
    bool followed = true;
    int error = 0;

    while (!error && followed) {
        error = enter_folders(way);
        if (error)
            return error;
        followed = false;
        error = is_proc(p->folder) ? examine_proc(way) : examine(way, &followed);
    }
    p->exists = !error;
    return error && (error != ENOENT || p->by_kernel) ? error : check_end(way);
}

/* For a file that must not exist. */
static int find_folder(struct way *way)
{
    int error = enter_folders(way);

    return error ? error : check_owner(way);
}

/* The descriptor of this program that PATH names, or -1. */
static int named_descriptor(const char *path)
{
    static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    guint64 number;

    for (int i = 0; i < (int)G_N_ELEMENTS(names); i++)
        if (strcmp(path, names[i]) == 0)
            return i;
    for (size_t i = 0; i < G_N_ELEMENTS(folders); i++)
        if (g_str_has_prefix(path, folders[i]) &&
            g_ascii_string_to_unsigned(path + strlen(folders[i]), 10, 0, INT_MAX, &number, NULL))
            return (int)number;
    return -1;
}

/* Needs no links of /dev and /proc, which a container may not have. */
static int find_descriptor(struct place *place, int descriptor)
{
    place->exists = place->by_kernel = true;
    place->descriptor = descriptor;
    return fstat(descriptor, &place->stat) == 0 ? 0 : errno;
}

static int go(struct place *place, const char *path, GError **refusal, int (*find)(struct way *))
{
    struct way way = {.place = place, .rest = g_string_new(path), .refusal = refusal};
    int error;

    *place = (struct place){.folder = -1, .descriptor = -1};
    error = path[0] ? start(&way) : ENOENT;
    if (!path[0])
        fail_with(refusal, "the name of the file is empty");
    if (!error)
        error = find(&way);
    g_string_free(way.rest, TRUE);
    return error;
}

int place_find(struct place *place, const char *path, GError **refusal)
{
    int descriptor = named_descriptor(path);

    if (descriptor >= 0) {
        *place = (struct place){.folder = -1};
        return find_descriptor(place, descriptor);
    }
    return go(place, path, refusal, find_end);
}

int place_find_folder(struct place *place, const char *path, GError **refusal)
{
    return go(place, path, refusal, find_folder);
}

bool place_is_same(const struct place *a, const struct place *b)
{
    if (a->exists != b->exists)
        return false;
    if (a->exists)
        return a->stat.st_dev == b->stat.st_dev && a->stat.st_ino == b->stat.st_ino;
    return strcmp(a->name, b->name) == 0 && is_same_file(a->folder, b->folder);
}

void place_clear(struct place *place)
{
    if (place->folder >= 0)
        close(place->folder);
    place->folder = -1;
}

/* ---- opening */

/* A file that is read is a secret: whoever wrote it knows it. */
static bool may_open(const struct place *place, int flags, int fd)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return false;
    errno = st.st_dev == place->stat.st_dev && st.st_ino == place->stat.st_ino ? EPERM : ESTALE;
    return errno == EPERM &&
           ((flags & O_ACCMODE) != O_RDONLY || !S_ISREG(st.st_mode) || user_is_trusted(st.st_uid));
}

int place_open(const struct place *place, int flags)
{
    int fd, error;

    if (place->descriptor >= 0)
        fd = fcntl(place->descriptor, F_DUPFD_CLOEXEC, 0);
    else
        fd = openat(place->folder, place->name,
                    flags | O_CLOEXEC | O_NOCTTY | (place->by_kernel ? 0 : O_NOFOLLOW));
    if (fd < 0 || may_open(place, flags, fd))
        return fd;
    error = errno;
    close(fd);
    errno = error;
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
