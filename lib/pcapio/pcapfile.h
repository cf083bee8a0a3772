/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes classic pcap files (draft-ietf-opsawg-pcap), always little-endian. libpcap's writer is not
 * used, because it hides write errors (pcap_dump, pcap_dump_close) and needs the packet in one
 * buffer. libpcap's reader is used.
 */
#ifndef IPOIB_PCAPIO_PCAPFILE_H
#define IPOIB_PCAPIO_PCAPFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "pcapio/bytes.h"

enum { PCAPFILE_HEADER_LEN = 24, PCAPFILE_RECORD_LEN = 16 };

/* Writes the file header. NANO: times in nanoseconds, else microseconds; SNAPLEN in bytes. */
void pcapfile_put_file_header(uint8_t out[PCAPFILE_HEADER_LEN], bool nano, uint32_t linktype,
                              uint32_t snaplen);

/*
 * Corrects the seconds of a classic pcap read by libpcap 1.10, which reads the unsigned 32 bits as
 * signed.
 */
static inline int64_t pcapfile_seconds(int64_t sec)
{
    return sec & UINT32_MAX;
}

/*
 * Writes a record header. FRACTION: in the file's unit; CAPLEN (of the data that follows) and
 * WIRELEN in bytes.
 */
static inline void pcapfile_put_record_header(uint8_t out[PCAPFILE_RECORD_LEN], uint32_t sec,
                                              uint32_t fraction, uint32_t caplen, uint32_t wirelen)
{
    put_le32(out, sec);
    put_le32(out + 4, fraction);
    put_le32(out + 8, caplen);
    put_le32(out + 12, wirelen);
}

#endif
