/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two CRCs of InfiniBand packets: CRC-32 (ICRC) and CRC-16 (VCRC). In both, the least
 * significant bit is first on the wire, so polynomials and registers are bit-reversed.
 */
#ifndef IPOIB_WIRE_CRC_H
#define IPOIB_WIRE_CRC_H

#include <stddef.h>
#include <stdint.h>

enum { CRC_AT_ONCE = 8 };

struct crc {
    /* powers of x modulo the polynomial, bit-reversed in 64 bits */
    uint64_t fold_64[2]; /* x^575 and x^511 */
    uint64_t fold_16[2]; /* x^191 and x^127 */
    uint64_t shorten[2]; /* x^95 and x^63 */
    /* x^64 divided by the polynomial, and the polynomial; bit-reversed in 33 bits */
    uint64_t barrett[2];
    /* [k][b]: the effect of a byte b on the register if k more bytes follow it */
    uint32_t followed_by[CRC_AT_ONCE][256];
};

extern const struct crc *const crc_32, *const crc_16;

/* The register after n bytes at p. No inversion: that is the caller's task. */
uint32_t crc_add(const struct crc *kind, uint32_t reg, const uint8_t *p, size_t n);

/* The same on every machine, by tables only. */
uint32_t crc_add_by_tables(const struct crc *kind, uint32_t reg, const uint8_t *p, size_t n);

#endif
