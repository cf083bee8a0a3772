/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of an ERF record (Extensible Record Format), the one place where it stands.
 *
 * Sources: Endace, "ERF Types Reference Guide" (EDM11-01); read against Wireshark's wiretap/erf.c
 * and against what ibdump writes. A record is a header of 16 octets, then extension headers of 8
 * octets each, then, for some types, a sub-header, then the packet, then padding. An InfiniBand
 * record (type 21) has no sub-header: the packet starts with its Local Routing Header.
 */
#ifndef IPOIB_WIRE_ERF_H
#define IPOIB_WIRE_ERF_H

#include <stdbool.h>
#include <stdint.h>

/* Offsets in the header, in octets. The time is little-endian, everything else is big-endian. */
enum {
    ERF_OFF_TIME = 0,  /* 8 octets: seconds since 1970 in units of 2^-32 s */
    ERF_OFF_TYPE = 8,  /* 1: bit 7 says that an extension header follows, bits 0-6 are the type */
    ERF_OFF_FLAGS = 9, /* 1: bits 0-1 capture interface, then ERF_FLAG_... */
    ERF_OFF_RLEN = 10, /* 2: octets of the whole record, padding and this header included */
    ERF_OFF_LCTR = 12, /* 2: packets lost since the record before (loss counter) */
    ERF_OFF_WLEN = 14, /* 2: octets that the packet had on the wire */
    ERF_HEADER_LEN = 16,
    ERF_EXT_LEN = 8, /* an extension header; bit 7 of its first octet: one more follows */
    ERF_MAX_LEN = 65535,
};

enum {
    ERF_TYPE_MASK = 0x7f,
    ERF_TYPE_MORE = 0x80,
    /* the length varies from record to record: ibdump sets this and no other */
    ERF_FLAG_VARYING = 0x04,
};

enum {
    ERF_TYPE_LEGACY = 0, /* a format before ERF, without a type: never valid here */
    ERF_TYPE_INFINIBAND = 21,
    ERF_TYPE_META = 27, /* provenance: facts about the capture, no packet */
    ERF_TYPE_PAD = 48,  /* filler, no packet; the last type there is */
};

/*
 * Extension headers are 64-bit numbers: the type in bits 56 to 62, for ERF_EXT_HOST_ID the source
 * (8 bits) and the host (48) below it. The first ERF_EXT_READ of a record are looked at, as many as
 * Wireshark keeps.
 */
enum { ERF_EXT_HOST_ID = 5, ERF_EXT_READ = 16 };
enum { ERF_FLAGS_PORT = 0x03 };

/* The first Host ID of a record's extension headers, one after the other; 0: none so far. */
static inline uint64_t erf_host(uint64_t so_far, uint64_t extension)
{
    bool is_host = (extension >> 56 & ERF_TYPE_MASK) == ERF_EXT_HOST_ID;
    return so_far == 0 && is_host ? extension & ((1ull << 56) - 1) : so_far;
}

/* A number for the port of the card that captured a record: not the same for two of a file. */
static inline uint32_t erf_port(uint8_t flags, uint64_t host)
{
    uint64_t mixed = host * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(mixed >> 32) << 2 | (flags & ERF_FLAGS_PORT);
}

#endif
