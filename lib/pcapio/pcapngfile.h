/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads pcapng files: packets with the number of their interface. libpcap does not return that
 * number, and refuses files with several link types. Supports sections of either byte order and
 * timestamps of any resolution; skips unknown blocks.
 */
#ifndef IPOIB_PCAPIO_PCAPNGFILE_H
#define IPOIB_PCAPIO_PCAPNGFILE_H

#include <stdio.h>

#include "pcapio/capfile.h"

struct pcapngfile;

/*
 * Starts to read FILE. The caller keeps FILE and ERROR, which must outlive the reader; messages are
 * written to ERROR. Returns NULL if out of memory.
 */
struct pcapngfile *pcapngfile_open(FILE *file, char error[CAPFILE_ERROR_LEN]);

/* Frees the reader but not FILE. NULL does nothing. */
void pcapngfile_close(struct pcapngfile *ng);

/* Like capfile_on_interface. */
void pcapngfile_on_interface(struct pcapngfile *ng, capfile_describe *describe, void *user);

/* Like capfile_next. */
enum capfile_result pcapngfile_next(struct pcapngfile *ng, struct capfile_frame *out);

/*
 * Converts TICKS, in the unit given by if_tsresol, plus OFFSET seconds to ns since 1970; results
 * outside the range of int64_t are limited to it.
 */
int64_t pcapng_ns(uint64_t ticks, uint8_t tsresol, int64_t offset);

#endif
