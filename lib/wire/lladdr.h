/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The 20-octet link-layer address in ARP and Neighbour Discovery: RFC 4391 section 9.1.1 figure 5,
 * with the flags of RFC 4755 section 3.1 in its first octet.
 */
#ifndef IPOIB_WIRE_LLADDR_H
#define IPOIB_WIRE_LLADDR_H

#include "wire/ib.h"

enum { LLADDR_FLAGS = 0, LLADDR_QPN = 1, LLADDR_GID = 4, LLADDR_SIZE = 20 };

/* RFC 4755 section 3.1: bit 0 (most significant) is RC, bit 1 UC; the other six are reserved. */
enum { LLADDR_FLAG_RC = 0x80, LLADDR_FLAG_UC = 0x40, LLADDR_FLAG_RESERVED = 0x3f };
/*
 * One of the reserved bits: MLNX_OFED sets it in the address of each interface (IPOIB_FLAGS_TSS).
 * The other five have no known use.
 */
enum { LLADDR_FLAG_TSS = 0x20, LLADDR_FLAG_UNKNOWN = 0x1f };

struct lladdr {
    uint8_t flags;
    uint32_t qpn;
    const uint8_t *gid; /* 16 bytes, points into the packet */
};

/* p: LLADDR_SIZE bytes. */
static inline struct lladdr lladdr_read(const uint8_t *p)
{
    return (struct lladdr){p[LLADDR_FLAGS], be24(p + LLADDR_QPN), p + LLADDR_GID};
}

/* Are all 20 bytes zero, as in the target of an ARP request? */
bool lladdr_is_zero(const uint8_t *p);

/* QPN 0xffffff or a multicast GID: an interface's broadcast address, or a group's address. */
static inline bool lladdr_is_multicast(const uint8_t *p)
{
    return be24(p + LLADDR_QPN) == QPN_MULTICAST || p[LLADDR_GID] == 0xff;
}

/*
 * The same QPN and GID. The flags are an interface's capabilities, not part of its identity (RFC
 * 4755 section 3.3).
 */
static inline bool lladdr_same(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a + LLADDR_QPN, b + LLADDR_QPN, LLADDR_SIZE - LLADDR_QPN) == 0;
}

/*
 * The same but for the GID's subnet prefix, which the SM may have changed: a port accepts the
 * default prefix too (IBA 4.1.1).
 */
static inline bool lladdr_same_port(const uint8_t *a, const uint8_t *b)
{
    enum { AT_GUID = LLADDR_GID + 8 };
    return memcmp(a + LLADDR_QPN, b + LLADDR_QPN, LLADDR_GID - LLADDR_QPN) == 0 &&
           memcmp(a + AT_GUID, b + AT_GUID, LLADDR_SIZE - AT_GUID) == 0;
}

#endif
