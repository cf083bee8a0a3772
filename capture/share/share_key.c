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
#include "cli/place.h"

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
 * Writes a temporary file and links it to the place, so that a key is never incomplete, and none is
 * replaced that another process created meanwhile. Returns an errno value.
 */
static int put_new(const struct share_key *key, const struct place *place)
{
    char name[NAME_MAX + 1];
    int fd = place_create_beside(place, S_IRUSR | S_IWUSR, name);
    int error = fd < 0 ? errno : write_key(key, fd);

    if (fd >= 0) {
        if (close(fd) != 0 && !error)
            error = errno;
        if (!error && linkat(place->folder, name, place->folder, place->name, 0) != 0)
            error = errno;
        unlinkat(place->folder, name, 0);
    }
    return error;
}

static bool fail_to_create(const char *path, int number, GError **error)
{
    return fail_with(error, "--share-key: %s: cannot create the key: %s", path, strerror(number));
}

/* Sets *CREATED to false if another process has created the file meanwhile. */
static bool create(const struct place *place, const char *path, bool *created, GError **error)
{
    struct share_key key;
    int number;

    if (!share_key_random(&key, error))
        return false;
    number = put_new(&key, place);
    *created = number == 0;
    return number == 0 || number == EEXIST || fail_to_create(path, number, error);
}

/* A key that another user put there would let that user undo the mapping. */
static bool find_file(struct place *place, const char *path, GError **error)
{
    GError *refusal = NULL;
    int number = place_find(place, path, &refusal);

    if (number == ENOENT)
        fail_to_create(path, number, error);
    else if (number)
        refuse(path, refusal ? refusal->message : strerror(number), error);
    g_clear_error(&refusal);
    return number == 0;
}

static bool load(struct share_key *key, const struct place *place, const char *path, GError **error)
{
    int fd = place_open(place, O_RDONLY);

    return fd < 0 ? refuse(path, strerror(errno), error) : load_open(key, fd, path, error);
}

bool share_key_load(struct share_key *key, const char *path, bool *created, GError **error)
{
    struct place place;
    bool good = find_file(&place, path, error);

    *created = false;
    if (good && !place.exists) {
        good = create(&place, path, created, error);
        place_clear(&place);
        good = good && find_file(&place, path, error);
    }
    good = good && load(key, &place, path, error);
    place_clear(&place);
    return good;
}
