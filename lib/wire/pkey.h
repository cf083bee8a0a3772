/* SPDX-License-Identifier: GPL-2.0-or-later */
/* P_Keys: the partition, and full or limited membership of it (IBA 10.9.1.1). */
#ifndef IPOIB_WIRE_PKEY_H
#define IPOIB_WIRE_PKEY_H

#include <stdbool.h>
#include <stdint.h>

/* set: full membership, clear: limited; the other 15 bits are the partition (IBA 10.9.1.1) */
enum { PKEY_MEMBERSHIP = 0x8000 };

static inline bool same_partition(uint16_t a, uint16_t b)
{
    return ((a ^ b) & ~PKEY_MEMBERSHIP & 0xffff) == 0;
}

/* A P_Key with the lower 15 bits 0 is no partition. */
static inline bool is_partition(uint16_t pkey)
{
    return !same_partition(pkey, 0);
}

#endif
