/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts one packet between the link types ERF (197) and InfiniBand (247), without input or
 * output.
 */
#ifndef IPOIB_PCAPIO_TRANSLATE_H
#define IPOIB_PCAPIO_TRANSLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "pcapio/packet.h"

enum verdict {
    CARRIED,
    NO_PACKET, /* ERF record without a packet (padding, provenance); cannot be written as 247 */
    NOT_INFINIBAND, /* ERF record of a type other than 21 */
    MALFORMED,      /* not an ERF record */
    TOO_LONG,       /* too long for an ERF record (16-bit lengths) */
    EMPTY,    /* no byte was captured; readers treat such a record in a raw ERF file as malformed */
    BAD_TIME, /* before 1970 or after 2106: the formats have 32 bits for the seconds */
    VERDICTS
};

struct translation {
    uint32_t from, to;        /* LINKTYPE_ERF or LINKTYPE_INFINIBAND */
    bool to_raw;              /* the output is a raw ERF file */
    bool from_raw;            /* the input is a raw ERF file: only the records contain a time */
    bool container_time_wins; /* the input is pcapng: readers prefer its time to the record's */
};

/*
 * Properties of a packet of link type ERF found by translate (all 0 for other link types, except
 * octets).
 */
struct remarks {
    uint8_t erf_type;
    uint32_t octets; /* bytes of the packet without ERF headers and padding (for every link type) */
    uint16_t lost;   /* loss counter of the record; only for type 21, other types use the field
                        differently */
    bool lost_headers; /* has extension headers, which cannot be written as 247 */
    bool ibdump_time;  /* the inexact ibdump time was replaced by the file's */
};

/*
 * Converts IN to OUT, whose data points into IN's. IN's data is a whole packet of link type FROM,
 * and its head is empty. OUT and NOTE are filled in as far as possible for every result; write OUT
 * only if the result is CARRIED.
 */
enum verdict translate(const struct translation *way, const struct packet *in, struct packet *out,
                       struct remarks *note);

#endif
