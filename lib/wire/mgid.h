/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Multicast GIDs that contain an IP group: RFC 4391 section 4 figures 1 and 2. 0xff, flags (4
 * bits), scope (4), IPoIB signature (16), P_Key (16), group ID (80).
 */
#ifndef IPOIB_WIRE_MGID_H
#define IPOIB_WIRE_MGID_H

#include "wire/ib.h"

enum {
    MGID_PREFIX = 0, /* 0xff */
    MGID_FLAGS_SCOPE = 1,
    MGID_SIGNATURE = 2,
    MGID_PKEY = 4,
    MGID_GROUP = 6,       /* 80 bits: IPv6 group ID */
    MGID_GROUP_IPV4 = 12, /* the low 32 bits of it: 28 bits of IPv4 group ID */
    MGID_SIZE = 16,
};
enum { MGID_SIGNATURE_IPV4 = 0x401b, MGID_SIGNATURE_IPV6 = 0x601b };
enum { MGID_FLAG_TRANSIENT = 0x1 };

struct mgid {
    uint8_t flags; /* 4 bits */
    uint8_t scope; /* 4 bits */
    uint16_t signature;
    uint16_t pkey;
    bool broadcast;   /* broadcast-GID: 255.255.255.255 */
    bool group_clean; /* IPv4: the group-ID bits above the low 28 are 0 */
    uint8_t ipv4[4];  /* signature 0x401b: the IP group */
    /*
     * signature 0x601b: the IP group, with the MGID's scope because the MGID does not contain the
     * IPv6 scope
     */
    uint8_t ipv6[16];
};

/* Does the GID (16 bytes) start with 0xff and contain one of the two IPoIB signatures? */
bool mgid_is_ipoib(const uint8_t *gid);
/*
 * Is it a multicast GID with another signature? Such groups are other protocols' (RDMA CM: 0x4001,
 * 0x6001), unless an IPoIB interface errs. gid NULL: false.
 */
bool mgid_is_other(const uint8_t *gid);
/* Is an IPoIB MGID that of 224.0.0.2 or ff02::2? */
bool mgid_is_all_routers(const uint8_t *gid);

/*
 * Make the MGID of an IP group (4 or 16 bytes), with the other fields of on_link, an IPoIB MGID of
 * the same link.
 */
void mgid_of_group(uint8_t *mgid, const uint8_t *on_link, const uint8_t *ip, uint8_t length);

/*
 * Is it an MGID of the IPv4 group 255.255.255.255 (RFC 4391 section 5), with any flags, scope and
 * P_Key? For GIDs for which mgid_is_ipoib() is true.
 */
bool mgid_is_broadcast(const uint8_t *gid);
/* The broadcast group, or the group of all IPv6 nodes (ff02::1). */
bool mgid_reaches_all(const uint8_t *gid);

/* Decode an MGID for which mgid_is_ipoib() is true. */
struct mgid mgid_read(const uint8_t *gid);

#endif
