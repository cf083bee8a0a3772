/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing a report so that it is whole, or an error is told. */
#include "verdict/save.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

bool save_is_safe(const char *path, char *const *captures, int n)
{
    struct stat out, in;
    if (!path || strcmp(path, "-") == 0 || stat(path, &out) != 0 || !S_ISREG(out.st_mode))
        return true;
    for (int i = 0; i < n; i++) {
        bool is_stdin = strcmp(captures[i], "-") == 0;
        if ((is_stdin ? fstat(0, &in) : stat(captures[i], &in)) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
            say("%s: is a capture to be judged; write the report to another file", path);
            return false;
        }
    }
    return true;
}
