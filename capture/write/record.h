/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of a capture file that the recorder writes, and the header of the file. */
#ifndef CAPTURE_RECORD_H
#define CAPTURE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcapio/erf.h"

/* Classic pcap with microseconds, as ibdump writes it, or pcapng with nanoseconds. */
struct record_format {
    bool pcapng;
    bool ethernet;     /* the frames are Ethernet frames, not InfiniBand */
    bool other;        /* the frames are neither InfiniBand nor Ethernet */
    uint16_t linktype; /* of the frames; only if OTHER is set */
    bool erf; /* each frame is in an ERF record (type 21 InfiniBand, 2 Ethernet); always true for
                 InfiniBand */
};

/* The whole records in a buffer. */
struct record_count {
    size_t len; /* bytes, including the file header */
    uint32_t packets;
    uint64_t bytes; /* bytes of the packets, without the headers of the file format */
};

/*
 * Counts the whole records in the LEN bytes at DATA. FILE_HEADER: DATA starts with a file header.
 */
struct record_count record_count(struct record_format format, const uint8_t *data, size_t len,
                                 bool file_header);

/* Bytes of the ERF headers of a frame; 0: it has none. Inline, because it runs for each frame. */
static inline uint32_t record_erf_len(struct record_format format)
{
    if (!format.erf)
        return 0;
    return format.ethernet ? ERF_HEADER_LEN + ERF_ETHERNET_LEN : ERF_HEADER_LEN;
}

/* What the header of a file says. The strings are for pcapng; NULL: omitted. */
struct record_file {
    struct record_format format;
    uint32_t snaplen; /* bytes of a record's data */
    const char *interface, *description, *comment;
};

/* Writes the header of a file, at most ROOM bytes. Returns its length. */
uint32_t record_put_file(uint8_t *out, size_t room, const struct record_file *file);

#endif
