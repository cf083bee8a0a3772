/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading pcapng files: packets with the interface that each came from, which libpcap does not tell
 * (it also refuses files of several link types). Sections of either byte order, times of any
 * resolution; blocks that are not known are skipped.
 */
#ifndef IPOIB_PCAPIO_PCAPNGFILE_H
#define IPOIB_PCAPIO_PCAPNGFILE_H

#include <stdio.h>

#include "pcapio/capfile.h"

struct pcapngfile;

/*
 * Starts to read FILE, which stays the caller's as ERROR does, where messages are left. NULL: out
 * of memory.
 */
struct pcapngfile *pcapngfile_open(FILE *file, char error[CAPFILE_ERROR_LEN]);

/* Frees the reader, not its FILE. NULL does nothing. */
void pcapngfile_close(struct pcapngfile *ng);

/* As capfile_on_interface. */
void pcapngfile_on_interface(struct pcapngfile *ng, capfile_describe *describe, void *user);

/* As capfile_next. */
enum capfile_result pcapngfile_next(struct pcapngfile *ng, struct capfile_frame *out);

/*
 * Nanoseconds since 1970 of TICKS in the unit that if_tsresol names, OFFSET seconds added; the
 * nearest that there is.
 */
int64_t pcapng_ns(uint64_t ticks, uint8_t tsresol, int64_t offset);

#endif
