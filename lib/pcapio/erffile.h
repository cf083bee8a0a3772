/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads raw ERF files: records one after the other without a file header. libpcap does not support
 * them.
 */
#ifndef IPOIB_PCAPIO_ERFFILE_H
#define IPOIB_PCAPIO_ERFFILE_H

#include <stdio.h>

#include "pcapio/capfile.h"

struct erffile;

/*
 * Starts to read FILE, which stays the caller's and must outlive the reader. Returns NULL and sets
 * ERROR if the file does not start with a plausible record header; the format has no magic number.
 */
struct erffile *erffile_open(FILE *file, GError **error);

/* Frees the reader but not FILE. NULL does nothing. */
void erffile_close(struct erffile *erf);

/* Like capfile_keep_padding. */
void erffile_keep_padding(struct erffile *erf);

/* Like capfile_next. */
enum capfile_result erffile_next(struct erffile *erf, struct capfile_frame *out, GError **error);

#endif
