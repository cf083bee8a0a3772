/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a report. See save.h. */
#include "cli/save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/create.h"
#include "cli/fail.h"
#include "cli/place.h"
#include "cli/privileges.h"

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool copy(FILE *from, FILE *to)
{
    char buffer[1 << 16];
    size_t n;
    rewind(from);
    while ((n = fread(buffer, 1, sizeof buffer, from)) > 0)
        if (fwrite(buffer, 1, n, to) != n)
            return false;
    return !ferror(from);
}

static bool write_text(const GString *text, FILE *to)
{
    return !text || fwrite(text->str, 1, text->len, to) == text->len;
}

static bool put_parts(const struct save_parts *p, FILE *to)
{
    return write_text(p->head, to) && (!p->middle || copy(p->middle, to)) &&
           write_text(p->tail, to) && fflush(to) == 0;
}

/* The functions below return an errno value, 0 on success. */

static int write_stdout(const struct save_parts *p)
{
    return put_parts(p, stdout) ? 0 : errno;
}

/* Writes to FILE and closes it. FILE NULL: opening it failed. KEPT: sync to disk. */
static int write_and_close(const struct save_parts *p, FILE *file, bool kept)
{
    if (!file)
        return errno;
    bool good = put_parts(p, file) && (!kept || fsync(fileno(file)) == 0);
    int error = errno;
    if (fclose(file) != 0 && good)
        return errno;
    return good ? 0 : error;
}

/* Writes to what cannot be replaced. A file is then incomplete meanwhile. */
static int write_in_place(const struct save_parts *p, const struct place *place,
                          const struct access_limit *limit, GError **refusal)
{
    int fd = create_at(place, limit, refusal), error = fd < 0 ? errno : 0;
    FILE *file = NULL;

    if (!error && (!create_empty(fd) || !(file = fdopen(fd, "w"))))
        error = errno;
    if (!error)
        return write_and_close(p, file, place->by_kernel ? false : S_ISREG(place->stat.st_mode));
    if (fd >= 0)
        close(fd);
    return error;
}

/* The file that is replaced, to see who may access it; or -1, also if it is another one by now. */
static int open_old(const struct place *place)
{
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int fd = openat(place->folder, place->name, O_RDONLY | flags);
    struct stat st;

    if (fd < 0)
        fd = openat(place->folder, place->name, O_WRONLY | flags);
    if (fd < 0 || (fstat(fd, &st) == 0 && is_same(&st, &place->stat)))
        return fd;
    close(fd);
    return -1;
}

static int set_access(int fd, const struct place *place, const struct access_limit *limit)
{
    int old, error;

    if (!place->exists)
        return limit->is_limited ? access_set(fd, limit, access_of_new()) : 0;
    old = open_old(place);
    error = access_keep(fd, limit, old, &place->stat);
    if (old >= 0)
        close(old);
    return error;
}

/* Writes a temporary file in the same folder and renames it. */
static int replace(const struct save_parts *p, const struct place *place,
                   const struct access_limit *limit)
{
    char name[NAME_MAX + 1];
    bool is_private = place->exists || limit->is_limited; /* until its access is set */
    int fd = place_create_beside(place, is_private ? 0600 : 0666, name), error;
    FILE *file;

    if (fd < 0)
        return errno;
    error = set_access(fd, place, limit);
    file = error ? NULL : fdopen(fd, "w");
    if (!error)
        error = write_and_close(p, file, true);
    if (!file)
        close(fd);
    if (!error && renameat(place->folder, name, place->folder, place->name) != 0)
        error = errno;
    if (error)
        unlinkat(place->folder, name, 0);
    return error;
}

/* Whether NUMBER, from replace(), says that the folder takes no new name, or the name is a mount
 * point, as single files in a container are. */
static bool is_fixed(int number)
{
    return number == EACCES || number == EPERM || number == EROFS || number == EBUSY;
}

static int write_place(const struct save_parts *p, const struct place *place,
                       const struct access_limit *limit, GError **refusal)
{
    int error;

    if (place->by_kernel || (place->exists && !S_ISREG(place->stat.st_mode)))
        return write_in_place(p, place, limit, refusal);
    error = replace(p, place, limit);
    return place->exists && is_fixed(error) && !p->replaces
               ? write_in_place(p, place, limit, refusal)
               : error;
}

static int write_file(const struct save_parts *p, const char *path,
                      const struct access_limit *limit, GError **refusal)
{
    struct place place;
    int error = place_find(&place, path, refusal);

    if (!error)
        error = write_place(p, &place, limit, refusal);
    place_clear(&place);
    return error;
}

/* NUMBER: errno value, 0 on success. REFUSAL: a message instead of it, or NULL; it is freed. */
static bool result(const char *path, int number, GError *refusal, GError **error)
{
    if (refusal)
        fail_with(error, "%s: %s", path, refusal->message);
    else if (number == EWOULDBLOCK)
        fail_with(error, "%s: %s", path, create_is_locked);
    else if (number)
        fail_with(error, "%s: cannot be written: %s", path, strerror(number));
    g_clear_error(&refusal);
    return number == 0;
}

static bool is_stdout(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

bool save_file(const struct save_parts *parts, const char *path, const struct access_limit *limit,
               GError **error)
{
    GError *refusal = NULL;
    int number;

    if (is_stdout(path))
        return result("standard output", write_stdout(parts), NULL, error);
    privileges_raise(PRIVILEGE_FILES | PRIVILEGE_OWNER | PRIVILEGE_GIVE);
    number = write_file(parts, path, limit, &refusal);
    privileges_lower();
    return result(path, number, refusal, error);
}

bool save(const GString *text, const char *path, GError **error)
{
    return save_file(&(struct save_parts){.head = text}, path, &access_unlimited, error);
}

bool save_is_possible(const char *path, GError **error)
{
    struct place place;
    GError *refusal = NULL;
    int number;

    if (is_stdout(path))
        return true;
    number = place_find(&place, path, &refusal);
    place_clear(&place);
    return result(path, number, refusal, error);
}

bool save_is_safe(const char *path, char *const *files, int n, const char *what, GError **error)
{
    struct stat out, in;

    if (is_stdout(path))
        return true;
    if (!save_is_possible(path, error))
        return false;
    if (stat(path, &out) != 0 || !S_ISREG(out.st_mode))
        return true;
    for (int i = 0; i < n; i++) {
        bool is_stdin = strcmp(files[i], "-") == 0;

        if ((is_stdin ? fstat(0, &in) : stat(files[i], &in)) == 0 && is_same(&in, &out))
            return fail_with(error, "%s: is %s; write to another file", path, what);
    }
    return true;
}

/* A terminal or /dev/null can take two outputs. */
static bool collide(const struct place *a, const struct place *b)
{
    return place_is_same(a, b) && !(a->exists && S_ISCHR(a->stat.st_mode));
}

/* Standard output is the descriptor that its name leads to. */
static const char *path_of(const char *path)
{
    return is_stdout(path) ? "/dev/stdout" : path;
}

bool save_are_distinct(const char *path, const char *other, const char *what, GError **error)
{
    struct place a, b;
    bool found_a = place_find(&a, path_of(path), NULL) == 0;
    bool found_b = place_find(&b, path_of(other), NULL) == 0;
    bool same = found_a && found_b && collide(&a, &b);

    place_clear(&a);
    place_clear(&b);
    return !same || fail_with(error, "%s: is %s; write to another file", path, what);
}
