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

/* Starts to read FILE, which stays the caller's and must outlive the reader. */
struct pcapngfile *pcapngfile_open(FILE *file);

/* Frees the reader but not FILE. NULL does nothing. */
void pcapngfile_close(struct pcapngfile *ng);

/* Like capfile_on_description and capfile_leave_private_out. */
void pcapngfile_on_description(struct pcapngfile *ng, capfile_describe *describe, void *user);
void pcapngfile_leave_private_out(struct pcapngfile *ng);

/*
 * The packets lost before the last frame (epb_dropcount; 0: none or unknown). Call it before
 * pcapngfile_options.
 */
uint64_t pcapngfile_dropped(const struct pcapngfile *ng);
/* The same for errors in the last packet's epb_flags. */
bool pcapngfile_is_marked(const struct pcapngfile *ng);
/* Packets lost so far, as the statistics of the interfaces say (isb_ifdrop, isb_osdrop). */
void pcapngfile_lost(const struct pcapngfile *ng, uint64_t *interface, uint64_t *system);
/* Like capfile_options. */
const uint8_t *pcapngfile_options(struct pcapngfile *ng, uint32_t *len);

/* Like capfile_next. */
enum capfile_result pcapngfile_next(struct pcapngfile *ng, struct capfile_frame *out,
                                    GError **error);

#endif
