/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output file of a capture. See outfile.h. */
#include "capture/write/outfile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "capture/write/series.h"
#include "capture/write/stop.h"
#include "cli/create.h"
#include "cli/fail.h"
#include "cli/privileges.h"

/* A file of a series that exists. The name alone is no proof: another file can have it by now. */
struct kept_file {
    char *name; /* NULL: none */
    dev_t device;
    ino_t inode;
};

struct outfile {
    struct outfile_plan plan;
    char *name;             /* of the current file; NULL: stdout */
    struct kept_file *kept; /* of a series; ring of plan.keep files */
    uint32_t made;
    uint32_t number; /* of the next file of the series; names that exist are passed over */
    int fd;
    int error;        /* errno value of the first failure; 0: none */
    GError *failure;  /* the first failure, for outfile_close() */
    atomic_bool live; /* no regular file; read while the writer opens the next file */
};

/* Name of the current file, for messages. */
static const char *file_name(const struct outfile *out)
{
    return out->name ? out->name : "standard output";
}

bool outfile_is_live(const struct outfile *out)
{
    return out->live;
}

bool outfile_reader_left(const struct outfile *out)
{
    return out->error == EPIPE;
}

bool outfile_reader_stalled(const struct outfile *out)
{
    return out->error == ETIMEDOUT && out->live;
}

/* Keeps the failure of writing the file NAME, unless there was one before. NUMBER: errno value. */
static bool fail_file(struct outfile *out, const char *name, int number)
{
    if (out->error)
        return false;
    out->error = number ? number : EIO;
    return fail_with(&out->failure, "%s: cannot be written, so it is incomplete: %s", name,
                     strerror(out->error));
}

int outfile_pipe(const struct outfile *out)
{
    return out->live ? out->fd : -1;
}

void outfile_note_left(struct outfile *out)
{
    fail_file(out, file_name(out), EPIPE);
}

/*
 * Builds the name of the next file: "dir/cap.pcap" becomes "dir/cap_00001_20240131235959.pcap", as
 * in dumpcap.
 */
static char *series_name(const struct outfile *out)
{
    size_t stem = series_stem(out->plan.path);
    time_t now = time(NULL);
    char stamp[32];
    struct tm local;

    if (!localtime_r(&now, &local) || strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", &local) == 0)
        stamp[0] = '\0';
    return g_strdup_printf("%.*s_%05u_%s%s", (int)stem, out->plan.path, out->number, stamp,
                           out->plan.path + stem);
}

/* Removes FILE, if its name is still that of the file. Returns false and sets ERROR if not. */
static bool remove_file(const struct kept_file *file, GError **error)
{
    struct stat st;
    bool exists = lstat(file->name, &st) == 0;

    if (exists && (st.st_dev != file->device || st.st_ino != file->inode))
        return fail_with(error, "%s: is not removed: it is not the file of this capture any more",
                         file->name);
    return (exists && unlink(file->name) == 0) || errno == ENOENT ||
           fail_with(error, "%s: cannot be removed: %s", file->name, strerror(errno));
}

/* Remembers the new file ST and removes the oldest file of the series. */
static void keep_file(struct outfile *out, const struct stat *st)
{
    struct kept_file *oldest;
    GError *why = NULL;

    if (!out->kept)
        return;
    oldest = &out->kept[out->made % out->plan.keep];
    if (oldest->name && !remove_file(oldest, &why))
        out->plan.warn(why);
    g_free(oldest->name);
    *oldest = (struct kept_file){g_strdup(out->name), st->st_dev, st->st_ino};
}

/* Keeps NUMBER, the errno value of a file that cannot be created, and names the file in *ERROR. */
static bool refuse_file(struct outfile *out, int number, GError **error)
{
    out->error = number ? number : EIO;
    g_prefix_error(error, "%s: ", file_name(out));
    return false;
}

/* The open file cannot be prepared. */
static bool fail_empty(struct outfile *out, GError **error)
{
    out->error = errno;
    return fail_with(error, "%s: cannot be written: %s", file_name(out), strerror(errno));
}

/* Another capture writes the series: removes the empty first file. */
static bool refuse_series(struct outfile *out, GError **error)
{
    out->error = EWOULDBLOCK;
    unlink(out->name);
    return fail_with(error, "%s: another capture is writing these files", out->plan.path);
}

/* A signal can interrupt open() while a FIFO waits for its reader. */
static int create_file_again(const char *path, GError **error)
{
    int fd = create_file(path, &access_unlimited, error);

    while (fd < 0 && errno == EINTR && !stop_requested()) {
        g_clear_error(error);
        fd = create_file(path, &access_unlimited, error);
    }
    return fd;
}

/* Creates the next file of the series whose name does not exist yet. */
static int create_next(struct outfile *out, GError **error)
{
    int fd;

    do {
        g_clear_error(error);
        g_free(out->name);
        out->number++;
        out->name = series_name(out);
        fd = create_new_file(out->name, error);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

static bool create_outfile(struct outfile *out, GError **error)
{
    struct stat st;

    if (!out->plan.series)
        out->name = g_strdup(out->plan.path);
    out->fd = out->plan.series ? create_next(out, error) : create_file_again(out->name, error);
    if (out->fd < 0)
        return refuse_file(out, errno, error);
    if (!create_empty(out->fd) || fstat(out->fd, &st) != 0)
        return fail_empty(out, error);
    if (out->plan.series && out->made == 0 && series_is_written(out->plan.path, out->fd))
        return refuse_series(out, error);
    out->live = !S_ISREG(st.st_mode);
    if (out->plan.series)
        keep_file(out, &st);
    out->made++;
    return true;
}

static bool use_open(struct outfile *out, int fd, GError **error)
{
    struct stat st;

    out->fd = fd;
    if (fstat(fd, &st) != 0) {
        out->error = errno;
        return fail_with(error, "%s: %s", file_name(out), strerror(errno));
    }
    out->live = !S_ISREG(st.st_mode);
    return true;
}

static bool open_first(struct outfile *out, GError **error)
{
    if (out->plan.fd) {
        out->name = g_strdup(out->plan.path);
        return use_open(out, out->plan.fd, error);
    }
    if (strcmp(out->plan.path, "-") == 0)
        return use_open(out, STDOUT_FILENO, error);
    return create_outfile(out, error);
}

struct outfile *outfile_open(const struct outfile_plan *plan, GError **error)
{
    struct outfile *out = g_new0(struct outfile, 1);

    out->plan = *plan;
    out->fd = -1;
    if (plan->series && plan->keep)
        out->kept = g_new0(struct kept_file, plan->keep);
    if (open_first(out, error))
        return out;
    outfile_close(out, NULL);
    return NULL;
}

static bool close_file(struct outfile *out)
{
    int fd = out->fd;

    out->fd = -1;
    /* a network file system may report a full disk only at close() */
    return fd < 0 || close(fd) == 0 || fail_file(out, file_name(out), errno);
}

/*
 * The next file is locked before this one is closed, so one file of the series is always locked
 * (series.h).
 */
bool outfile_next(struct outfile *out)
{
    char *name = out->name;
    int fd = out->fd;
    bool good;

    out->name = NULL;
    out->fd = -1;
    privileges_raise(PRIVILEGE_FILES);
    good = create_outfile(out, &out->failure);
    privileges_lower();
    if (fd >= 0 && close(fd) != 0)
        good = fail_file(out, name, errno);
    g_free(name);
    return good;
}

/* Gives up waiting for the reader of the pipe. */
static void stall(struct outfile *out)
{
    fail_with(&out->failure, "%s: the reader of the pipe does not read: its copy is incomplete",
              file_name(out));
    out->error = ETIMEDOUT;
}

size_t outfile_write(struct outfile *out, const void *bytes, size_t len, atomic_bool *abandon)
{
    const char *at = bytes;
    size_t done = 0;

    while (done < len && !out->error) {
        ssize_t n = write(out->fd, at + done, len - done);

        if (n > 0) {
            done += (size_t)n;
            continue;
        }
        if (n < 0 && errno == EINTR && !atomic_load(abandon))
            continue;
        if (n < 0 && errno == EINTR)
            stall(out);
        else
            fail_file(out, file_name(out), n < 0 ? errno : EIO);
    }
    return done;
}

void outfile_take_back(struct outfile *out, size_t len)
{
    off_t end = out->live || out->fd < 0 ? -1 : lseek(out->fd, 0, SEEK_CUR);

    if (end < (off_t)len || ftruncate(out->fd, end - (off_t)len) != 0)
        return; /* the last record stays incomplete; readers report that */
    lseek(out->fd, end - (off_t)len, SEEK_SET);
}

bool outfile_close(struct outfile *out, GError **error)
{
    bool good;

    if (!out)
        return true;
    close_file(out);
    good = !out->error;
    if (out->failure)
        g_propagate_error(error, out->failure);
    for (uint32_t i = 0; out->kept && i < out->plan.keep; i++)
        g_free(out->kept[i].name);
    g_free(out->kept);
    g_free(out->name);
    g_free(out);
    return good;
}
