/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options of pcapng blocks (draft-ietf-opsawg-pcapng section 3.5) that are copied to another file:
 * those that are valid in any file, little-endian, with times in nanoseconds.
 */
#ifndef IPOIB_PCAPIO_PCAPNGOPTIONS_H
#define IPOIB_PCAPIO_PCAPNGOPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum pcapng_block { PCAPNG_SECTION, PCAPNG_INTERFACE, PCAPNG_PACKET, PCAPNG_STATISTICS };

/* The file that the options are from, and the time unit of the interface. */
struct pcapng_origin {
    bool big_endian;
    uint8_t tsresol;
    int64_t tsoffset; /* seconds */
};

/*
 * Converts the LEN bytes of options at P in place, and removes those that are not copied, the end
 * mark, and what follows a malformed option. WITHOUT_PRIVATE: also removes comments, names,
 * addresses, everything else that describes a host, numbers of packets and queues, and reserved
 * bits. Returns the number of bytes that are left.
 */
uint32_t pcapng_convert_options(uint8_t *p, uint32_t len, enum pcapng_block block,
                                bool without_private, const struct pcapng_origin *from);

#endif
