/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/vcrc.h"

enum { AT_ONCE = 8, POLYNOMIAL = 0xd008 };

/*
 * [k][b]: the effect of a byte b on the CRC if k more bytes follow it. The polynomial 0x100B is
 * bit-reversed, because the least significant bit is first on the wire.
 */
static uint16_t followed_by[AT_ONCE][256];

/* Runs when the program is loaded, so that no packet needs a check for it. */
__attribute__((constructor)) static void make_tables(void)
{
    for (unsigned b = 0; b < 256; b++) {
        unsigned crc = b;
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        followed_by[0][b] = (uint16_t)crc;
    }
    for (unsigned k = 1; k < AT_ONCE; k++)
        for (unsigned b = 0; b < 256; b++) {
            uint16_t before = followed_by[k - 1][b];
            followed_by[k][b] = (uint16_t)(before >> 8 ^ followed_by[0][before & 0xff]);
        }
}

/* Process eight bytes at once, for speed. */
static uint16_t add_eight(uint16_t crc, const uint8_t *p)
{
    const uint16_t(*t)[256] = followed_by;
    return t[7][(p[0] ^ crc) & 0xff] ^ t[6][p[1] ^ crc >> 8] ^ t[5][p[2]] ^ t[4][p[3]] ^
           t[3][p[4]] ^ t[2][p[5]] ^ t[1][p[6]] ^ t[0][p[7]];
}

/* Initial value all ones, result complemented. */
static uint16_t vcrc(const uint8_t *p, uint32_t n)
{
    uint16_t crc = 0xffff;
    for (; n >= AT_ONCE; n -= AT_ONCE, p += AT_ONCE)
        crc = add_eight(crc, p);
    for (; n; n--, p++)
        crc = (uint16_t)(crc >> 8 ^ followed_by[0][(crc ^ *p) & 0xff]);
    return (uint16_t)~crc;
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
    uint16_t told = (uint16_t)(end[0] | end[1] << 8); /* little-endian */
    if (told == 0)
        return VCRC_NOT_THERE;
    return vcrc_of(v, ib) == told ? VCRC_RIGHT : VCRC_WRONG;
}
