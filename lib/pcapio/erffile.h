/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading raw ERF files: records one after the other, without a file header. libpcap does not read
 * them.
 */
#ifndef IPOIB_PCAPIO_ERFFILE_H
#define IPOIB_PCAPIO_ERFFILE_H

#include <stdio.h>

#include "pcapio/input.h"

struct erffile;

enum { ERFFILE_ERROR_LEN = 160 }; /* octets of a message, its end included */

/*
 * Starts to read FILE, which stays the caller's. ERROR stays the caller's too, and must outlive the
 * reader: messages are left there, without the file's name. The format has no magic number: returns
 * NULL with a message if the file does not begin with a possible record header.
 */
struct erffile *erffile_open(FILE *file, char error[ERFFILE_ERROR_LEN]);

/* Frees the reader, not its FILE. NULL does nothing. */
void erffile_close(struct erffile *erf);

/*
 * The next record, as a packet of link type LINKTYPE_ERF. As input_next, but that INPUT_ERROR
 * leaves its message in ERROR.
 */
enum input_result erffile_next(struct erffile *erf, struct packet *out);

#endif
