/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/vcrc.h"

#include "wire/crc.h"

/* 0x100B with its bits in reversed order. */
enum { POLYNOMIAL = 0xd008, DEGREE = 16, PRESET = 0xffff };

static struct crc_tables tables;

/* When the program is loaded, so that no packet has to ask whether it is done. */
__attribute__((constructor)) static void make_tables(void)
{
    crc_tables_make(&tables, POLYNOMIAL, DEGREE);
}

enum vcrc vcrc_check(struct view v, const struct ib_packet *ib)
{
    if (!ib->has_lrh || ib->length < LRH_SIZE || view_has(v, ib->length, VCRC_SIZE) != WIRE_OK)
        return VCRC_NOT_THERE;
    const uint8_t *end = v.p + ib->length;
    uint16_t told = (uint16_t)(end[0] | end[1] << 8); /* little-endian */
    if (told == 0)
        return VCRC_NOT_THERE;
    uint16_t crc = (uint16_t)~crc_add(&tables, PRESET, v.p, ib->length);
    return crc == told ? VCRC_RIGHT : VCRC_WRONG;
}
