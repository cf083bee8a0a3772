/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts one packet between the link types ERF (197) and InfiniBand (247), without input or
 * output.
 */
#ifndef IPOIB_PCAPIO_TRANSLATE_H
#define IPOIB_PCAPIO_TRANSLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "pcapio/capture_record.h"

enum translation_result {
    CARRIED,
    NO_PACKET, /* ERF record without a packet (padding, provenance); cannot be written as 247 */
    NOT_INFINIBAND, /* ERF record of a type other than 21 */
    NOT_IPOIB,      /* no InfiniBand and no IPoIB, which cannot be anonymised */
    MALFORMED,      /* not an ERF record */
    TOO_LONG,       /* too long for an ERF record (16-bit lengths), or for readers of pcap */
    EMPTY, /* no byte was captured; readers treat such a record in a raw ERF file as malformed */
    OTHER_LINKTYPE, /* the link types differ, and are not ERF and InfiniBand */
    BAD_TIME,       /* before 1970 or after 2106: the formats have 32 bits for the seconds */
    TRANSLATION_RESULTS
};

struct translation {
    uint32_t to;       /* link type of the output; of its InfiniBand interfaces if keeps_others */
    bool keeps_others; /* other link types that can contain IPoIB stay in the output */
    bool to_raw;       /* the output is a raw ERF file */
    bool from_raw;     /* the input is a raw ERF file: only the records contain a time */
    bool container_time_wins; /* the input is pcapng: readers prefer its time to the record's */
};

/*
 * Properties of a packet of link type ERF found by translate (all 0 for other link types, except
 * bytes).
 */
struct remarks {
    uint8_t erf_type;
    uint32_t bytes; /* bytes of the packet without ERF headers and padding (for every link type) */
    uint16_t lost;  /* loss counter of the record; only for type 21, other types use the field
                       differently */
    bool lost_headers; /* has extension headers, which cannot be written as 247 */
    bool ibdump_time;  /* the inexact ibdump time was replaced by the file's */
};

/* Whether packets of link type FROM can be written as link type TO. */
bool can_become(uint32_t from, uint32_t to);

/* The link type that packets of link type FROM have in the output, if they can be written. */
uint32_t translation_target(const struct translation *way, uint32_t from);

/*
 * Converts IN to OUT, whose data points into IN's. IN's data is a whole packet of its link type,
 * and its head is empty. A packet of another link type than ERF and InfiniBand is only copied. OUT,
 * with its new link type, and NOTE are filled in as far as possible for every result; write OUT
 * only if the result is CARRIED.
 */
enum translation_result translate(const struct translation *way, const struct capture_record *in,
                                  struct capture_record *out, struct remarks *note);

#endif
