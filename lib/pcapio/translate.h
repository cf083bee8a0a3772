/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One packet between the link types ERF (197) and InfiniBand (247), without any input or output. */
#ifndef IPOIB_PCAPIO_TRANSLATE_H
#define IPOIB_PCAPIO_TRANSLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "pcapio/packet.h"

enum verdict {
    CARRIED,
    NO_PACKET, /* padding or provenance: an ERF record without a packet, which 247 has no place for
                */
    NOT_INFINIBAND, /* an ERF record of another type than 21 */
    MALFORMED,      /* no ERF record */
    TOO_LONG,       /* longer than an ERF record can say (16-bit lengths) */
    EMPTY, /* not one octet was captured: as a raw ERF file, readers take such a record for damage
            */
    BAD_TIME, /* before 1970 or after 2106: the formats have 32 bits for the seconds */
    VERDICTS
};

struct translation {
    uint32_t from, to;        /* LINKTYPE_ERF or LINKTYPE_INFINIBAND */
    bool to_raw;              /* the target is a raw ERF file, without a container */
    bool from_raw;            /* the source is one: its packets have no time but the record's */
    bool container_time_wins; /* the source is a pcapng file, whose own time readers prefer to the
                                 record's */
};

/* What translate learnt about a packet of link type ERF (all 0 for others). */
struct remarks {
    uint8_t erf_type;
    uint32_t
        octets; /* of the packet itself, ERF headers and padding left out (for every link type) */
    uint16_t lost;     /* the record's loss counter; only of type 21, others use the field for other
                          things */
    bool lost_headers; /* it had extension headers, which the target cannot carry */
    bool ibdump_time;  /* its time was ibdump's wrong one, and was put right */
};

/*
 * Makes OUT from IN. OUT's data points into IN's. IN's data is a whole packet of the link type FROM
 * and its head is empty. OUT and NOTE are valid with every verdict as far as they go; only CARRIED
 * is to be written.
 */
enum verdict translate(const struct translation *way, const struct packet *in, struct packet *out,
                       struct remarks *note);

#endif
