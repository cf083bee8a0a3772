/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ERF records, taken apart and written. In a file the records stand one after the other (raw ERF,
 * ".erf") or each is a packet of a capture file of link type LINKTYPE_ERF (197).
 */
#ifndef IPOIB_PCAPIO_ERF_H
#define IPOIB_PCAPIO_ERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcapio/octets.h"
#include "wire/erf.h"

/*
 * The one type with a sub-header that is written too: an offset and a pad octet, before the frame.
 */
enum { ERF_TYPE_ETHERNET = 2, ERF_ETHERNET_LEN = 2 };

/* A record taken apart. All lengths are in octets. */
struct erf_record {
    uint64_t time;      /* as in the record: 2^-32 s since 1970 */
    uint8_t type;       /* without ERF_TYPE_MORE */
    uint8_t extensions; /* how many extension headers there are, 255 for more */
    uint16_t lctr;
    uint32_t size;   /* of the record that is there: rlen or, if the record was cut, less */
    uint32_t head;   /* header, extension headers and sub-header: where the packet begins */
    uint32_t caplen; /* of the packet that is there, padding left out */
    uint32_t wlen;   /* of the packet on the wire; never less than caplen */
};

/*
 * Takes apart the record in the LEN octets at REC. Octets after the record's own length are ignored
 * (other writers leave padding there); a record that was cut to fewer octets is fine if its headers
 * are there. Returns false if it is no ERF record.
 */
bool erf_parse(const uint8_t *rec, size_t len, struct erf_record *out);

/*
 * Writes the header of an InfiniBand record as ibdump does: type 21, flags 4, loss counter 0, no
 * padding. CAPLEN at most ERF_MAX_LEN - ERF_HEADER_LEN, WIRELEN at most 65535 octets. Inline: a
 * capture does it for each frame.
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

/* Replace the time or the record length of the record header at REC. */
void erf_set_time(uint8_t *rec, uint64_t time);
void erf_set_rlen(uint8_t *rec, uint32_t rlen);

/* Record length (octets) and type of the record header at REC, which has ERF_HEADER_LEN octets. */
uint16_t erf_rlen(const uint8_t *rec);
uint8_t erf_type(const uint8_t *rec);

/*
 * Time in ERF's units and back. SEC is 0..2^32-1, NS 0..999999999.
 * erf_time rounds up: the 2^-32 s are finer than a nanosecond, so a reader that cuts and a reader
 * that rounds both get the same nanosecond back. erf_split rounds to the nearest, as Wireshark
 * does, and carries into the seconds (which may then be 2^32).
 */
uint64_t erf_time(uint32_t sec, uint32_t ns);
void erf_split(uint64_t time, int64_t *sec, uint32_t *ns);

/*
 * The time that ibdump writes for SEC and USEC: up to 7.6 µs late, from 999993 µs on in the next
 * second.
 */
uint64_t erf_ibdump_time(uint32_t sec, uint32_t usec);

#endif
