/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/icrc.h"

#include <string.h>

#include "wire/crc.h"

/* CRC-32, as Ethernet has it: 0x04C11DB7 with its bits in reversed order. */
enum { DEGREE = 32 };
static const uint32_t polynomial = 0xedb88320, preset = 0xffffffff;

static struct crc_tables tables;

/* When the program is loaded, so that no packet has to ask whether it is done. */
__attribute__((constructor)) static void make_tables(void)
{
    crc_tables_make(&tables, polynomial, DEGREE);
}

/*
 * What may change on the way counts as ones (IBA 7.8.1): with a GRH all of the LRH, else its
 * virtual lane.
 */
static size_t copy_lrh(uint8_t *to, const uint8_t *p, bool grh)
{
    memcpy(to, p, LRH_SIZE);
    if (grh)
        memset(to, 0xff, LRH_SIZE);
    else
        to[LRH_VL_LVER] |= 0xf0;
    return LRH_SIZE;
}

/* Traffic class, flow label and hop limit. */
static size_t copy_grh(uint8_t *to, const uint8_t *p)
{
    memcpy(to, p, GRH_SIZE);
    to[GRH_VER_TCLASS_FLOW] |= 0x0f;
    memset(to + GRH_VER_TCLASS_FLOW + 1, 0xff, 3);
    to[GRH_HOP_LMT] = 0xff;
    return GRH_SIZE;
}

/* The octet of FECN, BECN and reserved bits. */
static size_t copy_bth(uint8_t *to, const uint8_t *p)
{
    memcpy(to, p, BTH_SIZE);
    to[BTH_FECN_BECN] = 0xff;
    return BTH_SIZE;
}

/* The headers from the LRH to the BTH, as they count. */
static size_t copy_headers(uint8_t *to, const uint8_t *p, const struct ib_packet *ib)
{
    size_t n = copy_lrh(to, p, ib->has_grh);
    if (ib->has_grh)
        n += copy_grh(to + n, p + ib->grh_off);
    return n + copy_bth(to + n, p + ib->bth_off);
}

enum icrc icrc_check(struct view v, const struct ib_packet *ib)
{
    if (!ib->has_lrh || !ib->has_bth || ib->length < (uint32_t)ib->bth_off + BTH_SIZE + ICRC_SIZE ||
        view_has(v, 0, ib->length) != WIRE_OK)
        return ICRC_NOT_THERE;
    const uint8_t *end = v.p + ib->length - ICRC_SIZE, *rest = v.p + ib->bth_off + BTH_SIZE;
    /* little-endian */
    uint32_t told = (uint32_t)end[0] | (uint32_t)end[1] << 8 | (uint32_t)end[2] << 16 |
                    (uint32_t)end[3] << 24;
    if (told == 0)
        return ICRC_NOT_THERE;
    uint8_t headers[LRH_SIZE + GRH_SIZE + BTH_SIZE];
    uint32_t crc = crc_add(&tables, preset, headers, copy_headers(headers, v.p, ib));
    crc = ~crc_add(&tables, crc, rest, (size_t)(end - rest));
    return crc == told ? ICRC_RIGHT : ICRC_WRONG;
}
