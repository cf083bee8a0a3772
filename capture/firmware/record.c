/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Record of an attached sniffer. See record.h. */
#include "capture/firmware/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/fail.h"
#include "cli/folder.h"

#define FOLDER "/run/ipoib-capture"

enum { BOOT_ID_LEN = 36, RECORD_SIZE = 128 };

/* The kernel's identifier of this start of the machine. */
static bool read_boot_id(char id[BOOT_ID_LEN + 1])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, id, BOOT_ID_LEN) : -1;

    if (fd >= 0)
        close(fd);
    id[n > 0 ? n : 0] = '\0';
    return n == BOOT_ID_LEN;
}

/* The words of a record. */
enum { RECORD_PARTS = 5 };

static bool number(const char *text, guint64 most, guint64 *value)
{
    return g_ascii_string_to_unsigned(text, 10, 0, most, value, NULL);
}

/* Reads the first line; a line without an end counts as empty. */
static void read_line(int fd, char text[RECORD_SIZE])
{
    ssize_t n = pread(fd, text, RECORD_SIZE - 1, 0);
    char *end = n > 0 ? memchr(text, '\n', (size_t)n) : NULL;

    *(end ? end : text) = '\0';
}

/*
 * Reads "BOOT-ID DEVICE QPN SENT RECEIVED\n". Anything else counts as no record. The rest of a
 * longer one may follow, if its writer was killed before it cut that off.
 */
static void read_record(int fd, struct attached *found)
{
    char text[RECORD_SIZE], id[BOOT_ID_LEN + 1], **part;
    guint64 device, qpn, sent, received;

    *found = (struct attached){.device = found->device};
    read_line(fd, text);
    part = g_strsplit(text, " ", RECORD_PARTS + 1);
    if (g_strv_length(part) == RECORD_PARTS && read_boot_id(id) && strcmp(id, part[0]) == 0 &&
        number(part[1], UINT64_MAX, &device) && number(part[2], 0xffffff, &qpn) &&
        number(part[3], 1, &sent) && number(part[4], 1, &received) && device == found->device)
        *found = (struct attached){device, (uint32_t)qpn, sent, received};
    g_strfreev(part);
}

/* The folder is root's, so this refuses only what root has put there. */
static bool is_own_file(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
           st.st_nlink == 1 && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static bool lock(int fd, const char *name, GError **error)
{
    if (fd < 0)
        return fail_with(error, FOLDER "/%s: cannot be created: %s", name, strerror(errno));
    if (!is_own_file(fd))
        return fail_with(
            error, FOLDER "/%s is not a file that only this user can write to: remove it", name);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    if (errno == EWOULDBLOCK)
        return fail_with(
            error,
            "another ipoib-capture has the sniffer of this port: end it, or let one capture "
            "write for both; if it has ended, its second process still detaches the sniffer: "
            "wait some minutes");
    return fail_with(error, FOLDER "/%s: cannot be locked: %s", name, strerror(errno));
}

static void record_name(char *name, size_t size, const char *pci, unsigned port)
{
    snprintf(name, size, "sniffer-%s-%u", pci, port);
}

void record_path(char path[RECORD_PATH_SIZE], const char *pci, unsigned port)
{
    char name[64];

    record_name(name, sizeof(name), pci, port);
    snprintf(path, RECORD_PATH_SIZE, "%s/%s", FOLDER, name);
}

int record_open(const char *pci, unsigned port, struct attached *found, GError **error)
{
    int folder = folder_open_private(FOLDER, error), fd;
    char name[64];

    if (folder < 0) {
        g_prefix_error(error, FOLDER ": ");
        return -1;
    }
    record_name(name, sizeof(name), pci, port);
    fd = openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (lock(fd, name, error)) {
        close(folder);
        read_record(fd, found);
        return fd;
    }
    close(folder);
    if (fd >= 0)
        close(fd);
    return -1;
}

bool record_write(int fd, const struct attached *attached, GError **error)
{
    char text[RECORD_SIZE], id[BOOT_ID_LEN + 1];
    int len = 0;

    if (attached->qpn && !read_boot_id(id))
        return fail_with(error, "/proc/sys/kernel/random/boot_id cannot be read: mount /proc");
    if (attached->qpn)
        len = snprintf(text, sizeof(text), "%s %" PRIu64 " %" PRIu32 " %d %d\n", id,
                       attached->device, attached->qpn, attached->sent, attached->received);
    return (pwrite(fd, text, (size_t)len, 0) == len && ftruncate(fd, len) == 0) ||
           fail_with(error, FOLDER ": the record cannot be written: %s", strerror(errno));
}
