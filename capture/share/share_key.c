/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Key of the address map. See share_key.h. */
#include "capture/share/share_key.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/fail.h"

enum {
    DIGITS = 2 * SHARE_KEY_SIZE,
    ROOM = DIGITS + 16, /* bytes that are read of a file: enough to see that it is longer */
};

bool share_key_random(struct share_key *key, GError **error)
{
    if (getrandom(key->bytes, SHARE_KEY_SIZE, 0) == SHARE_KEY_SIZE)
        return true;
    return fail_with(error, "--share: no random numbers for the key: %s", strerror(errno));
}

/* ---- reading */

static bool refuse(const char *path, const char *what, GError **error)
{
    return fail_with(error, "--share-key: %s: cannot read the key: %s", path, what);
}

/* Parses the digits and the line end. */
static bool parse(struct share_key *key, const char *text, size_t len, const char *path,
                  GError **error)
{
    size_t digits = strspn(text, "0123456789abcdefABCDEF");
    bool ends = digits + strspn(text + digits, "\r\n") == len;

    if (ends && digits < DIGITS)
        return refuse(path, "it is truncated; a key has 32 hexadecimal digits", error);
    if (!ends || digits > DIGITS)
        return refuse(path,
                      "this is not a key, which has 32 hexadecimal digits; name a new file to "
                      "create one",
                      error);
    for (size_t i = 0; i < SHARE_KEY_SIZE; i++)
        key->bytes[i] = (uint8_t)(g_ascii_xdigit_value(text[2 * i]) << 4 |
                                  g_ascii_xdigit_value(text[2 * i + 1]));
    return true;
}

/* Whether the file is one that other users cannot access. A pipe has no permissions to check. */
static bool is_private_file(int fd, const char *path, GError **error)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return refuse(path, strerror(errno), error);
    if (!S_ISREG(st.st_mode) || (st.st_mode & 077) == 0)
        return true;
    return fail_with(error,
                     "--share-key: %s: other users can access the key (mode %04o): chmod 600 %s",
                     path, (unsigned)st.st_mode & 07777, path);
}

static bool read_key(struct share_key *key, int fd, const char *path, GError **error)
{
    char text[ROOM + 1] = "";
    size_t len = 0;
    ssize_t n;

    do
        n = read(fd, text + len, ROOM - len);
    while ((n < 0 && errno == EINTR) || (n > 0 && (len += (size_t)n) < ROOM));
    return n < 0 ? refuse(path, strerror(errno), error) : parse(key, text, len, path, error);
}

static bool load_open(struct share_key *key, int fd, const char *path, GError **error)
{
    bool good = is_private_file(fd, path, error) && read_key(key, fd, path, error);

    close(fd);
    return good;
}

/* ---- creating */

/* Returns an errno value, 0 on success. */
static int write_key(const struct share_key *key, int fd)
{
    char text[DIGITS + 2];
    size_t len = 0;
    ssize_t n;

    for (int i = 0; i < SHARE_KEY_SIZE; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%02x", key->bytes[i]);
    text[len++] = '\n';
    errno = EIO;
    n = write(fd, text, len);
    return n == (ssize_t)len && fsync(fd) == 0 ? 0 : n >= 0 && n < (ssize_t)len ? ENOSPC : errno;
}

/*
 * Writes a temporary file and links it to PATH, so that a key is never incomplete, and none is
 * replaced that another process created meanwhile. Returns an errno value.
 */
static int put_new(const struct share_key *key, const char *path)
{
    char *name = g_strdup_printf("%s.XXXXXX", path);
    int fd = g_mkstemp_full(name, O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    int error = fd < 0 ? errno : write_key(key, fd);

    if (fd >= 0) {
        if (close(fd) != 0 && !error)
            error = errno;
        if (!error && link(name, path) != 0)
            error = errno;
        unlink(name);
    }
    g_free(name);
    return error;
}

/* Reads the key of a process that created the file first. */
static bool load_existing(struct share_key *key, const char *path, GError **error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    return fd < 0 ? refuse(path, strerror(errno), error) : load_open(key, fd, path, error);
}

static bool create(struct share_key *key, const char *path, bool *created, GError **error)
{
    int number;

    if (!share_key_random(key, error))
        return false;
    number = put_new(key, path);
    if (number == EEXIST)
        return load_existing(key, path, error);
    *created = !number;
    return *created ||
           fail_with(error, "--share-key: %s: cannot create the key: %s", path, strerror(number));
}

bool share_key_load(struct share_key *key, const char *path, bool *created, GError **error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    *created = false;
    if (fd >= 0)
        return load_open(key, fd, path, error);
    return errno == ENOENT ? create(key, path, created, error)
                           : refuse(path, strerror(errno), error);
}

bool share_key_survives(const char *path, const char *out, GError **error)
{
    struct stat key, st;

    if (stat(path, &key) != 0 || stat(out, &st) != 0 || key.st_dev != st.st_dev ||
        key.st_ino != st.st_ino || !S_ISREG(st.st_mode))
        return true;
    return fail_with(error, "%s: is the key file; write to another file", out);
}
