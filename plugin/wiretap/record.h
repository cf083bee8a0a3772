/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the readers of pcap and pcapng share: numbers in a file's byte order, and ERF records. */
#ifndef IPOIB_WIRETAP_RECORD_H
#define IPOIB_WIRETAP_RECORD_H

#include <stdint.h>

#include "plugin/wiretap/compat.h"
#include "wire/erf.h"

static inline uint16_t get16(const uint8_t *p, wt_bool big_endian)
{
    return (uint16_t)(big_endian ? p[0] << 8 | p[1] : p[1] << 8 | p[0]);
}

static inline uint32_t get32(const uint8_t *p, wt_bool big_endian)
{
    uint32_t first = get16(p, big_endian), second = get16(p + 2, big_endian);

    return big_endian ? first << 16 | second : second << 16 | first;
}

/*
 * Sets the ERF header of a packet as ipoib-capture convert writes it (erf_put_header). The lengths
 * have 16 bits; no InfiniBand packet is longer (LRH.PktLen has 11 bits, IBA 7.7). A saved packet
 * keeps its captured bytes even if the file says that fewer were on the wire.
 */
static inline void set_erf_header(wtap_rec *rec)
{
    wtap_packet_header *packet = &rec->rec_header.packet_header;
    uint32_t on_wire = MAX(packet->caplen, packet->len);

    packet->pseudo_header.erf.phdr = (struct erf_phdr){
        .ts = erf_time((uint32_t)rec->ts.secs, (uint32_t)rec->ts.nsecs),
        .type = ERF_TYPE_INFINIBAND,
        .flags = ERF_FLAG_VARYING,
        .rlen = (uint16_t)MIN(ERF_HEADER_LEN + packet->caplen, ERF_MAX_LEN),
        .wlen = (uint16_t)MIN(on_wire, UINT16_MAX),
    };
}

#endif
