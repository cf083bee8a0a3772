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

struct parts {
    const GString *head;
    FILE *middle; /* NULL: none */
    const GString *tail;
};

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
    return fwrite(text->str, 1, text->len, to) == text->len;
}

static bool put_parts(const struct parts *p, FILE *to)
{
    return write_text(p->head, to) && (!p->middle || copy(p->middle, to)) &&
           write_text(p->tail, to) && fflush(to) == 0;
}

/* The functions below return an errno value, 0 on success. */

static int write_stdout(const struct parts *p)
{
    return put_parts(p, stdout) ? 0 : errno;
}

/* Writes to FILE and closes it. FILE NULL: opening it failed. KEPT: sync to disk. */
static int write_and_close(const struct parts *p, FILE *file, bool kept)
{
    if (!file)
        return errno;
    bool good = put_parts(p, file) && (!kept || fsync(fileno(file)) == 0);
    int error = errno;
    if (fclose(file) != 0 && good)
        return errno;
    return good ? 0 : error;
}

/* Writes to a device or a pipe, which cannot be replaced. */
static int write_special(const struct parts *p, const char *path)
{
    return write_and_close(p, fopen(path, "w"), false);
}

/*
 * Writes a temporary file in the same folder and renames it. If PATH is a symbolic link, its target
 * is replaced; a dangling link is replaced itself. MODE: of the new file, less the umask.
 */
static int replace(const struct parts *p, const char *path, int mode)
{
    char *found = realpath(path, NULL);
    const char *real = found ? found : path;
    char *name = g_strdup_printf("%s.XXXXXX", real);
    int fd = g_mkstemp_full(name, O_RDWR | O_CLOEXEC, mode), error = fd < 0 ? errno : 0;
    if (!error) {
        error = write_and_close(p, fdopen(fd, "w"), true);
        if (!error && rename(name, real) != 0)
            error = errno;
        if (error)
            unlink(name);
    }
    g_free(name);
    free(found);
    return error;
}

static int write_file(const struct parts *p, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return replace(p, path, 0666);
    return S_ISREG(st.st_mode) ? replace(p, path, (int)(st.st_mode & 0777))
                               : write_special(p, path);
}

bool save_parts(const GString *head, FILE *middle, const GString *tail, const char *path,
                GError **error)
{
    const struct parts parts = {head, middle, tail};
    bool to_stdout = !path || strcmp(path, "-") == 0;
    int number = to_stdout ? write_stdout(&parts) : write_file(&parts, path);
    return number == 0 || fail_with(error, "%s: cannot be written: %s",
                                    to_stdout ? "standard output" : path, strerror(number));
}

bool save(const GString *text, const char *path, GError **error)
{
    return save_parts(text, NULL, &(GString){.str = (char *)""}, path, error);
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
    if (!path || strcmp(path, "-") == 0)
        return true;
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
