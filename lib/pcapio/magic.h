/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detects file formats from the first bytes. */
#ifndef IPOIB_PCAPIO_MAGIC_H
#define IPOIB_PCAPIO_MAGIC_H

#include <stdbool.h>
#include <stdint.h>

enum { MAGIC_LEN = 4 };

/* Type of the Section Header Block (draft-ietf-opsawg-pcapng section 4.1). */
bool magic_is_pcapng(const uint8_t bytes[MAGIC_LEN]);

/*
 * Classic pcap with microseconds or nanoseconds, and its "modified" variant, which libpcap also
 * reads.
 */
bool magic_is_pcap(const uint8_t bytes[MAGIC_LEN]);

struct compression {
    const char *name;
    const char *cat; /* program that decompresses to standard output */
};

/* Returns the compression, or NULL if none is known. */
const struct compression *magic_compression(const uint8_t bytes[MAGIC_LEN]);

#endif
