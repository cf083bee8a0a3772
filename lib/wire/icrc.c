/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/icrc.h"

#include "wire/crc.h"

/*
 * Copies the LRH. Fields that may change in transit count as ones (IBA 7.8.1): with a GRH the whole
 * LRH, else the virtual lane.
 */
static void copy_lrh(uint8_t *to, const uint8_t *p, bool grh)
{
    memcpy(to, p, LRH_SIZE);
    if (grh)
        memset(to, 0xff, LRH_SIZE);
    else
        to[LRH_VL_LVER] |= 0xf0;
}

/* Variant fields: traffic class, flow label and hop limit. */
static void copy_grh(uint8_t *to, const uint8_t *p)
{
    memcpy(to, p, GRH_SIZE);
    to[GRH_VER_TCLASS_FLOW] |= 0x0f;
    memset(to + GRH_VER_TCLASS_FLOW + 1, 0xff, 3);
    to[GRH_HOP_LMT] = 0xff;
}

/* Variant field: the byte with FECN, BECN and reserved bits. */
static void copy_bth(uint8_t *to, const uint8_t *p)
{
    memcpy(to, p, BTH_SIZE);
    to[BTH_FECN_BECN] = 0xff;
}

/* Initial value all ones, result complemented. */
uint32_t icrc_of(struct view v, const struct ib_packet *ib)
{
    uint8_t headers[LRH_SIZE + GRH_SIZE + BTH_SIZE], *to = headers + LRH_SIZE;
    const uint8_t *end = v.p + ib->length - ICRC_SIZE, *rest = v.p + ib->bth_off + BTH_SIZE;
    copy_lrh(headers, v.p, ib->has_grh);
    if (ib->has_grh) {
        copy_grh(to, v.p + ib->grh_off);
        to += GRH_SIZE;
    }
    copy_bth(to, v.p + ib->bth_off);
    uint32_t reg = crc_add(crc_32, 0xffffffffu, headers, (size_t)(to + BTH_SIZE - headers));
    return ~crc_add(crc_32, reg, rest, (size_t)(end - rest));
}

enum icrc icrc_check(struct view v, const struct ib_packet *ib)
{
    if (!ib->has_lrh || !ib->has_bth || ib->length < (uint32_t)ib->bth_off + BTH_SIZE + ICRC_SIZE ||
        view_has(v, 0, ib->length) != WIRE_OK)
        return ICRC_NOT_THERE;
    const uint8_t *end = v.p + ib->length - ICRC_SIZE;
    /* little-endian */
    uint32_t stored = (uint32_t)end[0] | (uint32_t)end[1] << 8 | (uint32_t)end[2] << 16 |
                      (uint32_t)end[3] << 24;
    if (stored == 0)
        return ICRC_NOT_THERE;
    return icrc_of(v, ib) == stored ? ICRC_RIGHT : ICRC_WRONG;
}
