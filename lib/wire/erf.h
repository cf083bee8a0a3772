/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layout of an ERF record (Extensible Record Format); all code uses these definitions.
 *
 * Sources: Endace, "ERF Types Reference Guide" (EDM11-01); compared with Wireshark's wiretap/erf.c
 * and with the output of ibdump. A record has a header of 16 bytes, extension headers of 8 bytes
 * each, for some types a sub-header, the packet, and padding. An InfiniBand record (type 21) has no
 * sub-header: the packet starts with its Local Route Header (LRH).
 */
#ifndef IPOIB_WIRE_ERF_H
#define IPOIB_WIRE_ERF_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Header fields: offset and size in bytes. The time is little-endian, all other fields are
 * big-endian.
 */
enum {
    ERF_OFF_TIME = 0,  /* 8 bytes: seconds since 1970 in units of 2^-32 s */
    ERF_OFF_TYPE = 8,  /* 1: bit 7: an extension header follows; bits 0-6: type */
    ERF_OFF_FLAGS = 9, /* 1: bits 0-1: capture interface; then ERF_FLAG_* */
    ERF_OFF_RLEN = 10, /* 2: bytes of the whole record, including padding and this header */
    ERF_OFF_LCTR = 12, /* 2: packets lost since the previous record (loss counter) */
    ERF_OFF_WLEN = 14, /* 2: bytes of the packet on the wire */
    ERF_HEADER_LEN = 16,
    ERF_EXT_LEN = 8, /* an extension header; bit 7 of its first byte: another one follows */
    ERF_MAX_LEN = 65535,
};

enum {
    ERF_TYPE_MASK = 0x7f,
    ERF_TYPE_MORE = 0x80,
    /* records differ in length; ibdump sets this flag only */
    ERF_FLAG_VARYING = 0x04,
    ERF_FLAG_ERROR = 0x10, /* the card received the packet with an error */
};

enum {
    ERF_TYPE_LEGACY = 0, /* the format before ERF, which has no type: never valid here */
    ERF_TYPE_INFINIBAND = 21,
    ERF_TYPE_META = 27, /* provenance: facts about the capture, no packet */
    ERF_TYPE_PAD = 48,  /* filler, no packet; the highest type */
};

/*
 * Extension headers are 64-bit numbers with the type in bits 56 to 62. Below it, ERF_EXT_HOST_ID
 * has the source (8 bits) and the host (48 bits). Only the first ERF_EXT_READ of a record are read,
 * as many as Wireshark keeps.
 */
enum { ERF_EXT_HOST_ID = 5, ERF_EXT_READ = 16 };
enum { ERF_FLAGS_PORT = 0x03 };

/*
 * The first Host ID in a record's extension headers; call with each of them in order. 0: none so
 * far.
 */
static inline uint64_t erf_host(uint64_t so_far, uint64_t extension)
{
    bool is_host = (extension >> 56 & ERF_TYPE_MASK) == ERF_EXT_HOST_ID;
    return so_far == 0 && is_host ? extension & ((1ull << 56) - 1) : so_far;
}

/*
 * A number for the card's port that captured a record, from the host and port; unique in a file
 * unless two hosts collide in the 30-bit hash.
 */
static inline uint32_t erf_port(uint8_t flags, uint64_t host)
{
    uint64_t mixed = host * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(mixed >> 32) << 2 | (flags & ERF_FLAGS_PORT);
}

/*
 * Converts to ERF time. NS: 0 to 999999999. Rounds up: units of 2^-32 s are finer than a
 * nanosecond, so readers that truncate and readers that round both get the same nanosecond.
 */
static inline uint64_t erf_time(uint32_t sec, uint32_t ns)
{
    uint64_t fraction = (((uint64_t)ns << 32) + 999999999) / 1000000000;

    return ((uint64_t)sec << 32) + fraction;
}

#endif
