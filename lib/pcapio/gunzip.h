/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decompresses a gzip stream that was already opened, also a pipe of which the first bytes were
 * read and put back (ungetc). zlib's own reader needs a file descriptor at its first byte.
 */
#ifndef IPOIB_PCAPIO_GUNZIP_H
#define IPOIB_PCAPIO_GUNZIP_H

#include <glib.h>
#include <stdio.h>

struct gunzip;

/* IN stays the caller's. Returns NULL if out of memory. */
struct gunzip *gunzip_open(FILE *in);

/* Closes it; the stream must be closed before. NULL does nothing. */
void gunzip_close(struct gunzip *g);

/* The decompressed bytes, to be closed by the caller. Returns NULL if out of memory. */
FILE *gunzip_stream(struct gunzip *g);

/* Why the stream ended too early (pcapio/error.h); NULL if it did not. */
const GError *gunzip_error(const struct gunzip *g);

#endif
