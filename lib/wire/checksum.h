/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Internet checksum (RFC 1071). */
#ifndef IPOIB_WIRE_CHECKSUM_H
#define IPOIB_WIRE_CHECKSUM_H

#include <stdint.h>

/* Add n bytes that start at an even offset of the summed data. */
static inline uint32_t checksum_add(uint32_t sum, const uint8_t *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        sum += i & 1 ? p[i] : (uint32_t)p[i] << 8;
    return sum;
}

/* The checksum. 0: the summed data contains its right checksum. */
static inline uint16_t checksum_fold(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

#endif
