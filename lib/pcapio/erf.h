/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses and writes ERF records. A file contains the records one after the other (raw ERF, ".erf"),
 * or each record is a packet of a capture file of LINKTYPE_ERF (197).
 */
#ifndef IPOIB_PCAPIO_ERF_H
#define IPOIB_PCAPIO_ERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcapio/bytes.h"
#include "wire/erf.h"

/*
 * The only type with a sub-header that is also written: an offset byte and a pad byte before the
 * frame.
 */
enum { ERF_TYPE_ETHERNET = 2, ERF_ETHERNET_LEN = 2 };

/* A parsed record. All lengths are in bytes. */
struct erf_record {
    uint64_t time;      /* ERF time: units of 2^-32 s since 1970 */
    uint8_t type;       /* without ERF_TYPE_MORE */
    uint8_t extensions; /* number of extension headers, at most 255 */
    uint16_t lctr;
    uint32_t size;   /* captured length of the record: rlen, or less if the record is truncated */
    uint32_t head;   /* header, extension headers and sub-header: offset of the packet */
    uint32_t caplen; /* captured length of the packet, without padding */
    uint32_t wlen;   /* length of the packet on the wire; at least caplen */
};

/*
 * Parses the record in the LEN bytes at REC. Bytes after the record's own length are ignored,
 * because some writers leave padding there. A truncated record is accepted if its headers are
 * complete. Returns false if it is not an ERF record.
 */
bool erf_parse(const uint8_t *rec, size_t len, struct erf_record *out);

/*
 * Writes the header of an InfiniBand record as ibdump does: type 21, flags 4, loss counter 0, no
 * padding. CAPLEN: at most ERF_MAX_LEN - ERF_HEADER_LEN bytes; WIRELEN: at most 65535 bytes.
 * Inline, because a capture calls it for each frame.
 */
static inline void erf_put_header(uint8_t out[ERF_HEADER_LEN], uint64_t time, uint32_t caplen,
                                  uint32_t wirelen)
{
    put_le64(out + ERF_OFF_TIME, time);
    out[ERF_OFF_TYPE] = ERF_TYPE_INFINIBAND;
    out[ERF_OFF_FLAGS] = ERF_FLAG_VARYING;
    put_be16(out + ERF_OFF_RLEN, (uint16_t)(ERF_HEADER_LEN + caplen));
    put_be16(out + ERF_OFF_LCTR, 0);
    put_be16(out + ERF_OFF_WLEN, (uint16_t)wirelen);
}

/* Replace the ERF time or the record length (bytes) in the record header at REC. */
void erf_set_time(uint8_t *rec, uint64_t time);
void erf_set_rlen(uint8_t *rec, uint32_t rlen);

/*
 * Return the record length (bytes) or the type in the record header at REC, of ERF_HEADER_LEN
 * bytes.
 */
uint16_t erf_rlen(const uint8_t *rec);
uint8_t erf_type(const uint8_t *rec);

/*
 * Converts from ERF time; erf_time() in wire/erf.h is the opposite. Rounds to the nearest
 * nanosecond, as Wireshark does, and carries into the seconds, which can then be 2^32. NS: 0 to
 * 999999999.
 */
void erf_split(uint64_t time, int64_t *sec, uint32_t *ns);

/*
 * Returns the ERF time that ibdump writes for SEC and USEC. It is up to 7.6 µs late, and from
 * 999993 µs on it is in the next second.
 */
uint64_t erf_ibdump_time(uint32_t sec, uint32_t usec);

#endif
