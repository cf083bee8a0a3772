/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads raw ERF files: records one after the other without a file header. libpcap does not support
 * them.
 */
#ifndef IPOIB_PCAPIO_ERFFILE_H
#define IPOIB_PCAPIO_ERFFILE_H

#include <stdio.h>

#include "pcapio/input.h"

struct erffile;

enum { ERFFILE_ERROR_LEN = 160 }; /* bytes of a message with its terminating 0 */

/*
 * Starts to read FILE. The caller keeps FILE and ERROR, which must outlive the reader; error
 * messages, without the file name, are written to ERROR. Returns NULL with a message if the file
 * does not start with a plausible record header; the format has no magic number.
 */
struct erffile *erffile_open(FILE *file, char error[ERFFILE_ERROR_LEN]);

/* Frees the reader but not FILE. NULL does nothing. */
void erffile_close(struct erffile *erf);

/*
 * Reads the next record as a packet of LINKTYPE_ERF. Like input_next, but INPUT_ERROR writes its
 * message to ERROR.
 */
enum input_result erffile_next(struct erffile *erf, struct packet *out);

#endif
