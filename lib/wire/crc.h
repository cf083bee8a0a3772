/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reflected CRCs of at most 32 bits, as both of InfiniBand's are (IBA 7.8): the first bit on the
 * wire is the least significant one. The caller presets and complements.
 */
#ifndef IPOIB_WIRE_CRC_H
#define IPOIB_WIRE_CRC_H

#include <stddef.h>
#include <stdint.h>

enum { CRC_AT_ONCE = 8, CRC_BLOCK = 16 };

struct crc_tables {
    /* [k][b]: what a byte b does to the CRC when k more bytes follow it */
    uint32_t followed_by[CRC_AT_ONCE][256];
    uint64_t block_later[2]; /* of the first and second half of a block: what folds them onto the
                                next block; 0 where the processor cannot */
};

/* polynomial: with its bits in reversed order, without the highest power; degree: that power. */
void crc_tables_make(struct crc_tables *t, uint32_t polynomial, unsigned degree);

uint32_t crc_add(const struct crc_tables *t, uint32_t crc, const uint8_t *p, size_t n);
/* The same without the processor's carry-less multiplication. */
uint32_t crc_add_by_table(const struct crc_tables *t, uint32_t crc, const uint8_t *p, size_t n);

#endif
