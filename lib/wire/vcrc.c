/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/vcrc.h"

#include "wire/crc.h"

/* Initial value all ones, result complemented. */
static uint16_t vcrc(const uint8_t *p, uint32_t n)
{
    return (uint16_t)~crc_add(crc_16, 0xffff, p, n);
}

uint16_t vcrc_of(struct view v, const struct ib_packet *ib)
{
    return vcrc(v.p, ib->length);
}

enum vcrc vcrc_check(struct view v, const struct ib_packet *ib)
{
    if (!ib->has_lrh || ib->length < LRH_SIZE || view_has(v, ib->length, VCRC_SIZE) != WIRE_OK)
        return VCRC_NOT_THERE;
    const uint8_t *end = v.p + ib->length;
    uint16_t stored = (uint16_t)(end[0] | end[1] << 8); /* little-endian */
    if (stored == 0)
        return VCRC_NOT_THERE;
    return vcrc_of(v, ib) == stored ? VCRC_RIGHT : VCRC_WRONG;
}
