/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes of a capture file. zlib reads uncompressed files unchanged. See source.h. */
#include "pcapio/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { PEEK_MAX = 8, BUFFER_LEN = 1 << 18 }; /* bytes */

struct source {
    gzFile gz;
    int fd;     /* descriptor of the same file, to read its position */
    off_t size; /* bytes; 0: unknown */
    uint8_t head[PEEK_MAX];
    size_t head_len, head_given;
    int saved_errno; /* errno of a failed read */
};

static bool open_fd(struct source *s, const char *path)
{
    struct stat st;

    s->fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0 || fstat(s->fd, &st) != 0)
        return false;
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return false;
    }
    s->size = S_ISREG(st.st_mode) ? st.st_size : 0;
    return true;
}

struct source *source_open(const char *path, char *error, size_t size)
{
    struct source *s = calloc(1, sizeof(*s));

    if (!s) {
        snprintf(error, size, "out of memory");
        return NULL;
    }
    if (open_fd(s, path)) {
        errno = ENOMEM; /* the only reason why gzdopen fails on an open file */
        s->gz = gzdopen(s->fd, "rb");
    }
    if (s->gz) {
        gzbuffer(s->gz, BUFFER_LEN);
        return s;
    }
    snprintf(error, size, "cannot be opened: %s", strerror(errno));
    if (s->fd >= 0)
        close(s->fd);
    free(s);
    return NULL;
}

void source_close(struct source *s)
{
    if (!s)
        return;
    gzclose_r(s->gz);
    free(s);
}

/* Like read(2); stores errno on failure. */
static ssize_t read_some(struct source *s, void *out, size_t n)
{
    int got;

    errno = 0;
    got = gzread(s->gz, out, n > BUFFER_LEN ? BUFFER_LEN : (unsigned)n);
    if (got < 0) {
        s->saved_errno = errno;
        errno = errno ? errno : EIO;
    }
    return got;
}

size_t source_peek(struct source *s, uint8_t *out, size_t n)
{
    ssize_t got = 1;

    n = n > PEEK_MAX ? PEEK_MAX : n;
    while (s->head_len < n && got > 0) {
        got = read_some(s, s->head + s->head_len, n - s->head_len);
        s->head_len += got > 0 ? (size_t)got : 0;
    }
    n = n > s->head_len ? s->head_len : n;
    memcpy(out, s->head, n);
    return n;
}

static ssize_t stream_read(void *cookie, char *out, size_t n)
{
    struct source *s = cookie;
    size_t peeked = s->head_len - s->head_given;

    if (peeked == 0)
        return read_some(s, out, n);
    n = n > peeked ? peeked : n;
    memcpy(out, s->head + s->head_given, n);
    s->head_given += n;
    return (ssize_t)n;
}

FILE *source_stream(struct source *s)
{
    FILE *file = fopencookie(s, "rb", (cookie_io_functions_t){.read = stream_read});

    if (file)
        setvbuf(file, NULL, _IOFBF, BUFFER_LEN); /* if this fails, the reads are only smaller */
    return file;
}

const char *source_fault(struct source *s)
{
    int code;
    const char *text = gzerror(s->gz, &code);

    switch (code) {
    case Z_OK:
    case Z_STREAM_END:
        return NULL;
    case Z_ERRNO:
        return strerror(s->saved_errno);
    case Z_BUF_ERROR:
        return "the compressed data is truncated";
    default:
        return text && text[0] ? text : "the compressed data is corrupt";
    }
}

double source_progress(const struct source *s)
{
    off_t at = s->size > 0 ? lseek(s->fd, 0, SEEK_CUR) : -1;

    return at < 0 ? -1 : (double)at / (double)s->size;
}
