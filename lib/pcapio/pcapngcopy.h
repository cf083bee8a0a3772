/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds the blocks of a pcapng file that describe what another pcapng file describes. */
#ifndef IPOIB_PCAPIO_PCAPNGCOPY_H
#define IPOIB_PCAPIO_PCAPNGCOPY_H

#include <glib.h>

#include "pcapio/capfile.h"

/*
 * Each appends a block with the options OPTIONS (LEN bytes, as capfile.h describes them) to OUT.
 * The section's application is this program, APPLICATION; COMMENT: a further comment, NULL: none.
 */
void pcapngcopy_section(GByteArray *out, const uint8_t *options, uint32_t len,
                        const char *application, const char *comment);
/* Timestamps are in nanoseconds. snaplen: bytes; 0: no limit. */
void pcapngcopy_interface(GByteArray *out, const struct capfile_description *d, uint16_t linktype,
                          uint32_t snaplen);
/* INTERFACE: number of the interface in the section of the output. */
void pcapngcopy_statistics(GByteArray *out, const struct capfile_description *d,
                           uint32_t interface);

#endif
