/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Write numbers into packets, in network byte order. wire/view.h has the readers. */
#ifndef IPOIB_WIRE_PUT_H
#define IPOIB_WIRE_PUT_H

#include <stdint.h>

static inline void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void put24(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 16);
    put16(p + 1, v);
}

static inline void put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v);
}

static inline void put64(uint8_t *p, uint64_t v)
{
    put32(p, (uint32_t)(v >> 32));
    put32(p + 4, (uint32_t)v);
}

#endif
