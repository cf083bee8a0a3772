/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/icrc.h"

#include <zlib.h>

/*
 * Fields that may change in transit count as ones (IBA 7.8.1): with a GRH the whole LRH, else the
 * virtual lane.
 */
static uint32_t add_lrh(uint32_t crc, const uint8_t *p, bool grh)
{
    uint8_t lrh[LRH_SIZE];
    memcpy(lrh, p, sizeof lrh);
    if (grh)
        memset(lrh, 0xff, sizeof lrh);
    else
        lrh[LRH_VL_LVER] |= 0xf0;
    return (uint32_t)crc32(crc, lrh, sizeof lrh);
}

/* Variant fields: traffic class, flow label and hop limit. */
static uint32_t add_grh(uint32_t crc, const uint8_t *p)
{
    uint8_t grh[GRH_SIZE];
    memcpy(grh, p, sizeof grh);
    grh[GRH_VER_TCLASS_FLOW] |= 0x0f;
    memset(grh + GRH_VER_TCLASS_FLOW + 1, 0xff, 3);
    grh[GRH_HOP_LMT] = 0xff;
    return (uint32_t)crc32(crc, grh, sizeof grh);
}

/* Variant field: the byte with FECN, BECN and reserved bits. */
static uint32_t add_bth(uint32_t crc, const uint8_t *p)
{
    uint8_t bth[BTH_SIZE];
    memcpy(bth, p, sizeof bth);
    bth[BTH_FECN_BECN] = 0xff;
    return (uint32_t)crc32(crc, bth, sizeof bth);
}

uint32_t icrc_of(struct view v, const struct ib_packet *ib)
{
    const uint8_t *end = v.p + ib->length - ICRC_SIZE, *rest = v.p + ib->bth_off + BTH_SIZE;
    uint32_t crc = add_lrh(0, v.p, ib->has_grh);
    if (ib->has_grh)
        crc = add_grh(crc, v.p + ib->grh_off);
    crc = add_bth(crc, v.p + ib->bth_off);
    return (uint32_t)crc32(crc, rest, (uInt)(end - rest));
}

enum icrc icrc_check(struct view v, const struct ib_packet *ib)
{
    if (!ib->has_lrh || !ib->has_bth || ib->length < (uint32_t)ib->bth_off + BTH_SIZE + ICRC_SIZE ||
        view_has(v, 0, ib->length) != WIRE_OK)
        return ICRC_NOT_THERE;
    const uint8_t *end = v.p + ib->length - ICRC_SIZE;
    /* little-endian */
    uint32_t told = (uint32_t)end[0] | (uint32_t)end[1] << 8 | (uint32_t)end[2] << 16 |
                    (uint32_t)end[3] << 24;
    if (told == 0)
        return ICRC_NOT_THERE;
    return icrc_of(v, ib) == told ? ICRC_RIGHT : ICRC_WRONG;
}
