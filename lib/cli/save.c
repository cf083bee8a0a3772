/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a report. See save.h. */
#include "cli/save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/fail.h"
#include "cli/place.h"
#include "cli/privileges.h"

enum { ALL = S_IRWXU | S_IRWXG | S_IRWXO };

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

/* Writes to a device, a pipe or what /proc names, which cannot be replaced. */
static int write_special(const struct save_parts *p, const struct place *place)
{
    int fd = place_open(place, O_WRONLY);
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(fd, 0) != 0) {
        int error = errno;
        close(fd);
        return error;
    }
    return write_and_close(p, fd < 0 ? NULL : fdopen(fd, "w"), false);
}

/* Takes the bits from the new file that LIMIT does not allow. */
static int limit_mode(int fd, const struct access_limit *limit)
{
    struct stat st;
    mode_t allowed;

    if (fstat(fd, &st) != 0)
        return errno;
    allowed = access_allowed(limit, st.st_mode & ALL, st.st_gid);
    return allowed == (st.st_mode & ALL) || fchmod(fd, allowed) == 0 ? 0 : errno;
}

/* Writes a temporary file in the same folder and renames it. */
static int replace(const struct save_parts *p, const struct place *place,
                   const struct access_limit *limit)
{
    char name[NAME_MAX + 1];
    mode_t mode = (place->exists ? place->stat.st_mode & ALL : 0666) & limit->mode;
    int fd = place_create_beside(place, mode, name), error = fd < 0 ? errno : limit_mode(fd, limit);
    FILE *file = fd < 0 || error ? NULL : fdopen(fd, "w");

    if (fd < 0)
        return error;
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

static int write_place(const struct save_parts *p, const struct place *place,
                       const struct access_limit *limit)
{
    if (place->by_kernel || (place->exists && !S_ISREG(place->stat.st_mode)))
        return write_special(p, place);
    return replace(p, place, limit);
}

static int write_file(const struct save_parts *p, const char *path,
                      const struct access_limit *limit, GError **refusal)
{
    struct place place;
    int error = place_find(&place, path, refusal);

    if (!error)
        error = write_place(p, &place, limit);
    place_clear(&place);
    return error;
}

/* NUMBER: errno value, 0 on success. REFUSAL: a message instead of it, or NULL; it is freed. */
static bool result(const char *path, int number, GError *refusal, GError **error)
{
    if (refusal)
        fail_with(error, "%s: %s", path, refusal->message);
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
    privileges_raise(PRIVILEGE_FILES);
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

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* For files that do not exist yet: have they the same folder and name? */
static bool is_same_name(const char *a, const char *b)
{
    char *folder_a = g_path_get_dirname(a), *folder_b = g_path_get_dirname(b);
    char *name_a = g_path_get_basename(a), *name_b = g_path_get_basename(b);
    struct stat of_a, of_b;
    bool same = strcmp(name_a, name_b) == 0 && stat(folder_a, &of_a) == 0 &&
                stat(folder_b, &of_b) == 0 && is_same(&of_a, &of_b);
    g_free(folder_a);
    g_free(folder_b);
    g_free(name_a);
    g_free(name_b);
    return same;
}

bool save_is_safe(const char *path, char *const *files, int n, const char *what, GError **error)
{
    struct stat out, in;
    if (is_stdout(path))
        return true;
    if (!save_is_possible(path, error))
        return false;
    bool exists = stat(path, &out) == 0;
    if (exists && !S_ISREG(out.st_mode))
        return true;
    for (int i = 0; i < n; i++) {
        bool is_stdin = strcmp(files[i], "-") == 0;
        bool there = (is_stdin ? fstat(0, &in) : stat(files[i], &in)) == 0;
        if (exists ? there && is_same(&in, &out)
                   : !there && !is_stdin && is_same_name(path, files[i]))
            return fail_with(error, "%s: is %s; write to another file", path, what);
    }
    return true;
}
