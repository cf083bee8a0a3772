/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes of a capture file or stdin, decompressed if compressed with gzip. */
#ifndef IPOIB_PCAPIO_SOURCE_H
#define IPOIB_PCAPIO_SOURCE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct source;

/*
 * Opens PATH ("-": stdin). Returns NULL and sets ERROR (pcapio/error.h) if it cannot be opened or
 * is a folder.
 */
struct source *source_open(const char *path, GError **error);

/* Closes the source. NULL does nothing. */
void source_close(struct source *s);

/*
 * Copies the first N bytes, at most 4, to OUT; the stream returns them again. Returns their number,
 * less at the end of the file. Call it before source_stream.
 */
size_t source_peek(struct source *s, uint8_t *out, size_t n);

/* Returns the bytes as a stream, which the caller closes before source_close. Call it only once. */
FILE *source_stream(struct source *s);

/*
 * Returns false and sets ERROR if bad compressed data or a system error ended the stream; true at
 * its normal end.
 */
bool source_ended_well(const struct source *s, GError **error);

/* The descriptor of the opened file. */
int source_fd(const struct source *s);

/* Returns the part of the file that has been read, 0 to 1; negative if its size is unknown. */
double source_progress(const struct source *s);

#endif
