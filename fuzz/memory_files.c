/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz/memory_files.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/create.h"
#include "fuzz/must.h"

enum { FIRST_FD = 1 << 20, DEVICE = 1 << 20 }; /* no file of the kernel has these numbers here */

static struct {
    GByteArray *bytes;
    gsize at;
    bool is_open;
} files[MEMORY_FILES];

static const char *const names[MEMORY_FILES] = {"memory/input", "memory/output"};

const char *memory_file_name(enum memory_file i)
{
    return names[i];
}

GByteArray *memory_file_bytes(enum memory_file i)
{
    if (!files[i].bytes)
        files[i].bytes = g_byte_array_new();
    return files[i].bytes;
}

/* MEMORY_FILES: none of these files. */
static unsigned by_name(const char *path)
{
    unsigned i = 0;
    while (i < MEMORY_FILES && strcmp(path, names[i]) != 0)
        i++;
    return i;
}

static unsigned by_fd(int fd)
{
    return fd >= FIRST_FD && fd < FIRST_FD + MEMORY_FILES ? (unsigned)(fd - FIRST_FD)
                                                          : MEMORY_FILES;
}

static int open_file(unsigned i)
{
    must(!files[i].is_open);
    memory_file_bytes(i);
    files[i].is_open = true;
    files[i].at = 0;
    return FIRST_FD + (int)i;
}

static int describe(unsigned i, struct stat *st)
{
    *st = (struct stat){.st_mode = S_IFREG | S_IRUSR | S_IWUSR,
                        .st_size = files[i].bytes->len,
                        .st_dev = DEVICE,
                        .st_ino = i + 1};
    return 0;
}

/* ---- instead of the C library's */

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker sets these names */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list rest;
    unsigned i = by_name(path);
    if (i < MEMORY_FILES)
        return open_file(i);
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return __real_open(path, flags, mode);
}

int __wrap_create_file(const char *path, const struct access_limit *limit, GError **error);
int __wrap_create_file(const char *path, const struct access_limit *limit, GError **error)
{
    unsigned i = by_name(path);
    must(i < MEMORY_FILES);
    (void)limit;
    (void)error;
    return open_file(i);
}

bool __wrap_create_empty(int fd);
bool __wrap_create_empty(int fd)
{
    g_byte_array_set_size(memory_file_bytes(by_fd(fd)), 0);
    return true;
}

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    unsigned i = by_fd(fd);
    return i < MEMORY_FILES ? describe(i, st) : __real_fstat(fd, st);
}

int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st)
{
    unsigned i = by_name(path);
    if (i == MEMORY_FILES)
        return __real_stat(path, st);
    memory_file_bytes(i);
    return describe(i, st);
}

ssize_t __real_read(int fd, void *out, size_t n);
ssize_t __wrap_read(int fd, void *out, size_t n);
ssize_t __wrap_read(int fd, void *out, size_t n)
{
    unsigned i = by_fd(fd);
    if (i == MEMORY_FILES)
        return __real_read(fd, out, n);
    n = MIN(n, files[i].bytes->len - files[i].at);
    if (n)
        memcpy(out, files[i].bytes->data + files[i].at, n);
    files[i].at += n;
    return (ssize_t)n;
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    unsigned i = by_fd(fd);
    if (i == MEMORY_FILES)
        return __real_close(fd);
    must(files[i].is_open);
    files[i].is_open = false;
    return 0;
}

static ssize_t write_bytes(void *cookie, const char *bytes, size_t n)
{
    g_byte_array_append(files[by_fd(GPOINTER_TO_INT(cookie))].bytes, (const guint8 *)bytes,
                        (guint)n);
    return (ssize_t)n;
}

static int close_stream(void *cookie)
{
    return __wrap_close(GPOINTER_TO_INT(cookie));
}

FILE *__real_fdopen(int fd, const char *mode);
FILE *__wrap_fdopen(int fd, const char *mode);
FILE *__wrap_fdopen(int fd, const char *mode)
{
    if (by_fd(fd) == MEMORY_FILES)
        return __real_fdopen(fd, mode);
    return fopencookie(GINT_TO_POINTER(fd), mode,
                       (cookie_io_functions_t){.write = write_bytes, .close = close_stream});
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */
