/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading raw ERF files: records one after the other, without a file header. libpcap does not read them. */
#ifndef CAPTURE_ERFFILE_H
#define CAPTURE_ERFFILE_H

#include <stdio.h>

#include "capture/input.h"

struct erffile;

/*
 * Starts to read FILE, which stays the caller's; NAME is for messages and must outlive the reader. The format
 * has no magic number: returns NULL after a message if the file does not begin with a possible record header.
 */
struct erffile *erffile_open(FILE *file, const char *name);

/* Frees the reader, not its FILE. NULL does nothing. */
void erffile_close(struct erffile *erf);

/* The next record, as a packet of link type LINK_ERF. As input_next. */
enum input_result erffile_next(struct erffile *erf, struct packet *out);

#endif
