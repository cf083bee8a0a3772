/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The octets of a capture file: of a file or stdin, decompressed where they are gzip's. */
#ifndef IPOIB_PCAPIO_SOURCE_H
#define IPOIB_PCAPIO_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct source;

/*
 * Opens PATH ("-": stdin). Returns NULL, with a message of at most SIZE octets in ERROR (without
 * the path), if it cannot be opened or is a folder.
 */
struct source *source_open(const char *path, char *error, size_t size);

/* Closes what source_open opened. NULL does nothing. */
void source_close(struct source *s);

/*
 * The octets as a stream, to be closed by the caller, before source_close. NULL: out of memory.
 * Once for a source.
 */
FILE *source_stream(struct source *s);

/*
 * The first octets, which the stream will give too: at most 8, fewer where there are no more.
 * Before source_stream.
 */
size_t source_peek(struct source *s, uint8_t *out, size_t n);

/*
 * Why the stream ended or failed, where the compressed data or the system are at fault; NULL: it
 * has simply ended.
 */
const char *source_fault(struct source *s);

/* How much of the file has been read, 0 to 1; negative where its size is not known. */
double source_progress(const struct source *s);

#endif
