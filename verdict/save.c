/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing a report so that it is whole, or an error is told. */
#include "verdict/save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verdict/say.h"

static bool write_stream(const GString *text, FILE *file, const char *name)
{
    bool good = file && fwrite(text->str, 1, text->len, file) == text->len;
    good = good && fflush(file) == 0;
    if (!good)
        say("%s: the report cannot be written: %s", name, strerror(errno));
    return good;
}

static bool write_stdout(const GString *text)
{
    return write_stream(text, stdout, "standard output");
}

/* A device or a pipe cannot be replaced. */
static bool write_special(const GString *text, const char *path)
{
    FILE *file = fopen(path, "w");
    bool good = write_stream(text, file, path);
    if (file && fclose(file) != 0 && good) {
        say("%s: the report cannot be written: %s", path, strerror(errno));
        good = false;
    }
    return good;
}

/* Through a symbolic link, the file that it names is replaced, not the link. mode: of the new file, less the umask. */
static bool replace(const GString *text, const char *path, int mode)
{
    GError *error = NULL;
    char *real = realpath(path, NULL);
    bool good = g_file_set_contents_full(real ? real : path, text->str, (gssize)text->len, G_FILE_SET_CONTENTS_CONSISTENT, mode,
                                         &error);
    if (!good)
        say("%s: the report cannot be written: %s", path, error->message);
    g_clear_error(&error);
    free(real);
    return good;
}

bool save(const GString *text, const char *path)
{
    struct stat st;
    if (!path || strcmp(path, "-") == 0)
        return write_stdout(text);
    if (stat(path, &st) != 0)
        return replace(text, path, 0666);
    return S_ISREG(st.st_mode) ? replace(text, path, (int)(st.st_mode & 0777)) : write_special(text, path);
}

/* ---- in parts */

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

static bool put_parts(const GString *head, FILE *middle, const GString *tail, FILE *to)
{
    return fwrite(head->str, 1, head->len, to) == head->len && copy(middle, to) &&
           fwrite(tail->str, 1, tail->len, to) == tail->len && fflush(to) == 0;
}

/* Beside the file that it will be, so that renaming it cannot fail halfway. */
static FILE *open_beside(const char *real, int mode, char **name)
{
    *name = g_strdup_printf("%s.XXXXXX", real);
    int fd = g_mkstemp_full(*name, O_RDWR | O_CLOEXEC, mode);
    return fd < 0 ? NULL : fdopen(fd, "w");
}

static bool replace_by_parts(const GString *head, FILE *middle, const GString *tail, const char *path, int mode)
{
    char *found = realpath(path, NULL), *name;
    const char *real = found ? found : path;
    FILE *file = open_beside(real, mode, &name);
    bool good = file && put_parts(head, middle, tail, file) && fsync(fileno(file)) == 0;
    int error = errno;
    if (file && fclose(file) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good && rename(name, real) != 0) {
        good = false;
        error = errno;
    }
    if (!good) {
        say("%s: the report cannot be written: %s", path, strerror(error));
        if (file)
            unlink(name);
    }
    g_free(name);
    free(found);
    return good;
}

static bool write_parts(const GString *head, FILE *middle, const GString *tail, FILE *file, const char *name)
{
    bool good = file && put_parts(head, middle, tail, file);
    if (!good)
        say("%s: the report cannot be written: %s", name, strerror(errno));
    return good;
}

bool save_parts(const GString *head, FILE *middle, const GString *tail, const char *path)
{
    struct stat st;
    if (!path || strcmp(path, "-") == 0)
        return write_parts(head, middle, tail, stdout, "standard output");
    if (stat(path, &st) != 0)
        return replace_by_parts(head, middle, tail, path, 0666);
    if (S_ISREG(st.st_mode))
        return replace_by_parts(head, middle, tail, path, (int)(st.st_mode & 0777));
    FILE *file = fopen(path, "w");
    bool good = write_parts(head, middle, tail, file, path);
    if (file && fclose(file) != 0 && good) {
        say("%s: the report cannot be written: %s", path, strerror(errno));
        good = false;
    }
    return good;
}

bool save_is_safe(const char *path, char *const *files, int n, const char *what)
{
    struct stat out, in;
    if (!path || strcmp(path, "-") == 0 || stat(path, &out) != 0 || !S_ISREG(out.st_mode))
        return true;
    for (int i = 0; i < n; i++) {
        bool is_stdin = strcmp(files[i], "-") == 0;
        if ((is_stdin ? fstat(0, &in) : stat(files[i], &in)) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
            say("%s: is %s; write the report to another file", path, what);
            return false;
        }
    }
    return true;
}
