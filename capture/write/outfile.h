/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output file of a capture, or a series of files: creating, writing, removing old ones. */
#ifndef CAPTURE_OUTFILE_H
#define CAPTURE_OUTFILE_H

#include <glib.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outfile_plan {
    const char *path; /* "-": stdout */
    int fd;           /* of PATH, if it is open already; else 0 */
    bool series;      /* write several files; a number and the time are added to the name:
                         "cap_00001_20240131235959.pcap" */
    uint32_t keep;    /* number of files kept of a series, older ones are removed; 0: all */
    /*
     * Called if an old file of a series cannot be removed, and the capture goes on. Called by the
     * thread that writes. Takes ownership of WHY.
     */
    void (*warn)(GError *why);
};

struct outfile;

/* Creates the first file. Returns NULL and sets ERROR if that fails. */
struct outfile *outfile_open(const struct outfile_plan *plan, GError **error);

/*
 * Closes the file and creates the next one of the series. Returns false if that fails:
 * outfile_close() has the error.
 */
bool outfile_next(struct outfile *out);

/*
 * Writes LEN bytes. Returns the number written: fewer than LEN if that fails, and 0 in all later
 * calls: outfile_close() has the error. If ABANDON is set, a signal interrupts a write that waits
 * for the reader of a pipe.
 */
size_t outfile_write(struct outfile *out, const void *bytes, size_t len, atomic_bool *abandon);

/* Removes the last LEN bytes (an incomplete record), if the file can be truncated. */
void outfile_take_back(struct outfile *out, size_t len);

/*
 * Closes and frees. Returns false and sets ERROR if data did not reach the file: to the first
 * failure of this call and those before it. NULL is fine.
 */
bool outfile_close(struct outfile *out, GError **error);

/* Whether the output is not a regular file: a reader reads while the capture writes. */
bool outfile_is_live(const struct outfile *out);
/*
 * File descriptor for poll(), of a pipe or similar, where an error means that the reader closed it;
 * else -1.
 */
int outfile_pipe(const struct outfile *out);

/* Handles the reader's closing of the pipe reported by poll(), like a failed write. */
void outfile_note_left(struct outfile *out);

/* Whether the write failed because the reader closed the pipe. */
bool outfile_reader_left(const struct outfile *out);

/* Whether the write was abandoned because the reader did not read at the end of the capture. */
bool outfile_reader_stalled(const struct outfile *out);

#endif
