/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file that a capture goes into, or the files one after the other: creating, writing whole
 * records, removing.
 */
#ifndef CAPTURE_OUTFILE_H
#define CAPTURE_OUTFILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outfile_plan {
    const char *path;      /* "-": stdout */
    bool series;           /* several files: a number and the time are put into the name,
                              "cap_00001_20240131235959.pcap" */
    uint32_t keep;         /* so many files of a series stay, older ones are removed; 0: all */
    bool reader_may_leave; /* that a pipe's reader closes it is no fault, and not told */
};

struct outfile;

/* Creates the first file. Returns NULL after a message. */
struct outfile *outfile_open(const struct outfile_plan *plan);

/* Ends the file and creates the next one of the series. Returns false after a message. */
bool outfile_next(struct outfile *out);

/*
 * Writes LEN octets. Returns how many were written; fewer after a message, and 0 from then on. Once
 * ABANDON is set, a signal ends a write that waits for a reader.
 */
size_t outfile_write(struct outfile *out, const void *octets, size_t len, atomic_bool *abandon);

/*
 * Takes the last LEN octets back, if the file can do that: the part of a record that did not fit.
 */
void outfile_take_back(struct outfile *out, size_t len);

/*
 * Closes and frees. Returns false after a message if what was written has not reached the file.
 * NULL is fine.
 */
bool outfile_close(struct outfile *out);

/* a pipe or the like: someone reads as we write */
bool outfile_is_live(const struct outfile *out);
/* For poll(): of a pipe or the like, where an error is its reader's leaving; else -1. */
int outfile_pipe(const struct outfile *out);

/* poll() has said so. It is told as a failed write would be. */
void outfile_note_left(struct outfile *out);

/* what failed is that the pipe's reader closed it */
bool outfile_reader_left(const struct outfile *out);

/* what failed is that the pipe's reader did not read when the capture ended */
bool outfile_reader_stalled(const struct outfile *out);

#endif
