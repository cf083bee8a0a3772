/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The 20-octet link-layer address of ARP and Neighbour Discovery: RFC 4391 §9.1.1 figure 5, with
 * the flags of RFC 4755 §3.1 in its first octet.
 */
#ifndef IPOIB_WIRE_LLADDR_H
#define IPOIB_WIRE_LLADDR_H

#include "wire/ib.h"

enum { LLADDR_FLAGS = 0, LLADDR_QPN = 1, LLADDR_GID = 4, LLADDR_SIZE = 20 };

/* RFC 4755 §3.1: bit 0, the most significant, is RC, bit 1 UC; the other six are reserved. */
enum { LLADDR_FLAG_RC = 0x80, LLADDR_FLAG_UC = 0x40, LLADDR_FLAG_RESERVED = 0x3f };

struct lladdr {
    uint8_t flags;
    uint32_t qpn;
    const uint8_t *gid; /* 16 octets, into the packet */
};

/* p: LLADDR_SIZE octets. */
static inline struct lladdr lladdr_read(const uint8_t *p)
{
    return (struct lladdr){p[LLADDR_FLAGS], be24(p + LLADDR_QPN), p + LLADDR_GID};
}

/* All 20 octets zero: the target of an ARP request. */
bool lladdr_is_zero(const uint8_t *p);

/* QPN 0xffffff and a multicast GID: an interface's broadcast address or a group's. */
static inline bool lladdr_is_multicast(const uint8_t *p)
{
    return be24(p + LLADDR_QPN) == QPN_MULTICAST || p[LLADDR_GID] == 0xff;
}

/* The same QPN and GID; the flags say what an interface can do, not which it is (RFC 4755 §3.3). */
static inline bool lladdr_same(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a + LLADDR_QPN, b + LLADDR_QPN, LLADDR_SIZE - LLADDR_QPN) == 0;
}

#endif
