/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the tests of lib/wire: whole captured bytes, and a packet. */
#ifndef IPOIB_UNIT_WIRE_BYTES_H
#define IPOIB_UNIT_WIRE_BYTES_H

#include "wire/view.h"

static inline struct view whole(const uint8_t *p, uint32_t n)
{
    return view_make(p, n, n);
}

/*
 * UD SEND Only from LID 1, QPN 0x48 to LID 2, QPN 0x405: 8 + 12 + 8 + payload 10 + pad 2 + ICRC 4 =
 * 44 = 11 words.
 */
static const uint8_t ud[] = {
    /* LRH: LNH 2 (BTH), length 11 */
    0x00, 0x02, 0x00, 0x02, 0x00, 0x0b, 0x00, 0x01,
    /* BTH: pad 2, AckReq, PSN 0xfffffe */
    0x64, 0x20, 0xff, 0xff, 0x00, 0x00, 0x04, 0x05, 0x80, 0xff, 0xff, 0xfe, 0x00, 0x00, 0x0b, 0x1b,
    0x00, 0x00, 0x00, 0x48,                         /* DETH */
    0x08, 0x06, 0x00, 0x00, 1, 2, 3, 4, 5, 6, 0, 0, /* payload, pad */
    0xaa, 0xaa, 0xaa, 0xaa, 0xbb, 0xbb,             /* ICRC, VCRC */
};

#endif
