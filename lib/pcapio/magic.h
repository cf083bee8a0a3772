/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a file is by its first octets. */
#ifndef IPOIB_PCAPIO_MAGIC_H
#define IPOIB_PCAPIO_MAGIC_H

#include <stdbool.h>
#include <stdint.h>

enum { MAGIC_LEN = 4 };

bool magic_is_pcapng(const uint8_t octets[MAGIC_LEN]);

/*
 * Classic pcap in microseconds and nanoseconds, and its "modified" variant, which libpcap reads
 * too.
 */
bool magic_is_pcap(const uint8_t octets[MAGIC_LEN]);

struct compression {
    const char *name;
    const char *cat; /* the program that decompresses to its standard output */
};

/* NULL: it is not compressed, as far as is known here. */
const struct compression *magic_compression(const uint8_t octets[MAGIC_LEN]);

#endif
