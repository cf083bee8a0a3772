/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes of a capture file. See source.h. */
#include "pcapio/source.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/inputs.h"
#include "pcapio/error.h"
#include "pcapio/gunzip.h"

enum { BUFFER_LEN = 1 << 18 }; /* bytes */

struct source {
    int fd;
    off_t size;            /* bytes; 0: unknown */
    FILE *raw;             /* the file as it is stored */
    struct gunzip *gunzip; /* NULL: it is not compressed */
    FILE *content;         /* raw, or its decompressed bytes; NULL: owned by the caller */
    int saved_errno;       /* errno of a failed read */
};

static bool open_fd(struct source *s, const char *path)
{
    struct stat st;

    s->fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : inputs_open(path);
    if (s->fd < 0 || fstat(s->fd, &st) != 0)
        return false;
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return false;
    }
    s->size = S_ISREG(st.st_mode) ? st.st_size : 0;
    return true;
}

static ssize_t read_raw(void *cookie, char *out, size_t n)
{
    struct source *s = cookie;
    ssize_t got;

    if (s->saved_errno) { /* the C library reads again, and a signal has ended the first read */
        errno = s->saved_errno;
        return -1;
    }
    got = read(s->fd, out, n);
    if (got < 0)
        s->saved_errno = errno;
    return got;
}

static FILE *open_raw(struct source *s)
{
    return fopencookie(s, "rb", (cookie_io_functions_t){.read = read_raw});
}

static void use_large_buffer(FILE *file)
{
    setvbuf(file, NULL, _IOFBF, BUFFER_LEN); /* if this fails, the reads are only smaller */
}

/* Copies the first N bytes of FILE to OUT, and puts them back. Returns their number. */
static size_t peek(FILE *file, uint8_t *out, size_t n)
{
    size_t got = fread(out, 1, n, file);

    if (!ferror(file))
        clearerr(file); /* the end of a short file is not its end yet */
    /*
     * ISO C guarantees one byte of ungetc; the usual C libraries accept the bytes just read. The
     * result is checked.
     */
    for (size_t i = got; i > 0; i--)
        if (ungetc(out[i - 1], file) == EOF)
            return 0;
    return got;
}

static bool open_content(struct source *s)
{
    uint8_t magic[2];

    s->content = s->raw = open_raw(s);
    if (!s->raw)
        return false;
    use_large_buffer(s->raw);
    if (peek(s->raw, magic, sizeof(magic)) < 2 || magic[0] != 0x1f || magic[1] != 0x8b)
        return true;
    s->gunzip = gunzip_open(s->raw);
    s->content = s->gunzip ? gunzip_stream(s->gunzip) : NULL;
    if (s->content)
        use_large_buffer(s->content);
    return s->content != NULL;
}

struct source *source_open(const char *path, GError **error)
{
    struct source *s = g_new0(struct source, 1);

    if (!open_fd(s, path))
        g_set_error(error, PCAPIO_ERROR, PCAPIO_ERROR_SYSTEM, "cannot be opened: %s",
                    strerror(errno));
    else if (!open_content(s))
        g_set_error_literal(error, PCAPIO_ERROR, PCAPIO_ERROR_SYSTEM, "out of memory");
    else
        return s;
    source_close(s);
    return NULL;
}

void source_close(struct source *s)
{
    if (!s)
        return;
    if (s->content && s->content != s->raw)
        fclose(s->content);
    gunzip_close(s->gunzip);
    if (s->raw)
        fclose(s->raw);
    if (s->fd >= 0)
        close(s->fd);
    g_free(s);
}

size_t source_peek(struct source *s, uint8_t *out, size_t n)
{
    return peek(s->content, out, n);
}

FILE *source_stream(struct source *s)
{
    FILE *content = s->content;

    s->content = NULL;
    if (content == s->raw)
        s->raw = NULL;
    return content;
}

bool source_ended_well(const struct source *s, GError **error)
{
    const GError *gunzip = s->gunzip ? gunzip_error(s->gunzip) : NULL;

    if (s->saved_errno) {
        g_set_error_literal(error, PCAPIO_ERROR, PCAPIO_ERROR_SYSTEM, strerror(s->saved_errno));
        return false;
    }
    if (gunzip && error)
        *error = g_error_copy(gunzip);
    return !gunzip;
}

int source_fd(const struct source *s)
{
    return s->fd;
}

double source_progress(const struct source *s)
{
    off_t at = s->size > 0 ? lseek(s->fd, 0, SEEK_CUR) : -1;

    return at < 0 ? -1 : (double)at / (double)s->size;
}
