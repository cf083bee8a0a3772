/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address map of a shared capture. See share_map.h. */
#include "capture/share/share_map.h"

#include <stdio.h>
#include <string.h>

#include "wire/cm.h"
#include "wire/lladdr.h"
#include "wire/mgid.h"
#include "wire/put.h"

static bool are_zero(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

/* ---- IPv4 */

/* Addresses that stay; no other becomes one of them. */
static bool stays(uint32_t address)
{
    return address == 0 || address == 0x7f000001u || address == UINT32_MAX;
}

/*
 * In the last two octets, 255 stays 255, and no other value becomes 255: the value that would takes
 * the place that 255 leaves. So the broadcast address of a /16 or /24 network (RFC 919 section 7)
 * stays one, and no host's address becomes one.
 */
static uint32_t with_octets_255(struct share_map *m, uint32_t address, uint32_t to)
{
    for (int shift = 8; shift >= 0; shift -= 8) {
        uint32_t ones = 0xffu << shift;

        if ((address & ones) == ones)
            to |= ones;
        else if ((to & ones) == ones)
            to = (to & ~ones) |
                 ((uint32_t)share_permuted(m, PERMUTE_IPV4, address | ones, 32) & ones);
    }
    return to;
}

static uint32_t map_ipv4(struct share_map *m, uint32_t address)
{
    uint32_t to = (uint32_t)share_permuted(m, PERMUTE_IPV4, address, 32);

    return address >> 28 == 0xe ? to : with_octets_255(m, address, to);
}

void share_ipv4(struct share_map *m, uint8_t p[4])
{
    uint32_t address = be32(p), to = stays(address) ? address : map_ipv4(m, address);

    put32(p, to != address && stays(to) ? map_ipv4(m, to) : to);
}

/* ---- GUIDs, interface identifiers and MAC addresses */

enum { OUI_BITS = 24, ID_BITS = 40, LOW_BITS = 24 };
enum { MAC_SIZE = 6, MAC_OUI = 3 };

static uint32_t map_oui(struct share_map *m, uint32_t oui)
{
    uint32_t universal = oui & OUI_UNIVERSAL;

    return universal |
           (uint32_t)share_permuted_but_0(m, PERMUTE_OUI, oui & ~OUI_UNIVERSAL, OUI_BITS);
}

static uint32_t map_low(struct share_map *m, uint32_t low)
{
    return (uint32_t)share_permuted_but_0(m, PERMUTE_LOW, low, LOW_BITS);
}

void share_guid(struct share_map *m, uint8_t p[8])
{
    const uint64_t universal = (uint64_t)OUI_UNIVERSAL << (ID_BITS - OUI_BITS);
    uint64_t high = be64(p) >> LOW_BITS,
             middle = share_permuted_but_0(m, PERMUTE_MIDDLE, high & ~universal, ID_BITS);

    put24(p + 5, map_low(m, be24(p + 5)));
    put16(p + 3, (uint32_t)middle & 0xffff);
    put24(p, map_oui(m, be24(p)));
}

void share_service_id(struct share_map *m, uint8_t p[8])
{
    switch (cm_service_of(be64(p))) {
    case SERVICE_IPOIB_RFC:
    case SERVICE_IPOIB_LINUX:
    case SERVICE_SDP:
    case SERVICE_RDMA_IP_TCP:
    case SERVICE_RDMA_IP_UDP:
    case SERVICE_RDMA_IP_IB:
    case SERVICE_RDMA_IP_OTHER:
    case SERVICE_RDMA_IPOIB:
        return;
    default: /* any number, and the blocks of IETF and of the local OS, which are one byte */
        share_guid(m, p);
    }
}

void share_mac(struct share_map *m, uint8_t p[6])
{
    enum { GROUP = 1, BROADCAST = 0xffffff };

    if (be24(p) == BROADCAST && be24(p + MAC_OUI) == BROADCAST)
        return;
    if (!(p[0] & GROUP))
        put24(p, map_oui(m, be24(p)));
    put24(p + MAC_OUI, map_low(m, be24(p + MAC_OUI)));
}

/* ---- groups */

/* Numbers that IANA assigned: ff02::1, ff05::101, ff02::1:3 and similar; the broadcast-GID */
static bool is_well_known(uint32_t group)
{
    return group < 0x200 || group >> 8 == 0x100 || group == UINT32_MAX;
}

/* Of the last 80 bits of an IPv6 multicast address or of its MGID, the first 16. 0 stays 0. */
static void map_group_top(struct share_map *m, uint8_t p[2])
{
    put16(p, (uint32_t)share_permuted_but_0(m, PERMUTE_GROUP_TOP, be16(p), 16));
}

/* A group whose other bits are 0 */
static uint32_t map_number(struct share_map *m, uint32_t group)
{
    do
        group = (uint32_t)share_permuted(m, PERMUTE_GROUP_LOW, group, 32);
    while (is_well_known(group));
    return group;
}

/* The other 64 of these bits; TOP: the first 16, before they were mapped. */
static void map_group_rest(struct share_map *m, uint16_t top, uint8_t p[8])
{
    enum { IPV4_IN_IPV6 = 0xffff, SOLICITED_NODE = 0xff };
    uint32_t middle = be32(p), low = be32(p + 4);

    if (top == 0 && middle == 1 && low >> 24 == SOLICITED_NODE)
        put24(p + 5, map_low(m, low & 0xffffff));
    else if (top == 0 && middle == IPV4_IN_IPV6)
        share_ipv4(m, p + 4);
    else if (top == 0 && middle == 0 && !is_well_known(low))
        put32(p + 4, map_number(m, low));
    else if (top != 0 || middle != 0) {
        put32(p, (uint32_t)share_permuted_but_0(m, PERMUTE_GROUP_MIDDLE, middle, 32));
        put32(p + 4, (uint32_t)share_permuted(m, PERMUTE_GROUP_LOW, low, 32));
    }
}

/*
 * Maps 28 bits of an IPv4 multicast address; all ones are the broadcast-GID (RFC 4391 section 4).
 */
void share_group4(struct share_map *m, uint8_t p[4])
{
    enum { CLASS = 28, MULTICAST = 0xe };
    uint32_t group = be32(p), number = group & ((1u << CLASS) - 1),
             address = (uint32_t)MULTICAST << CLASS | number;

    if (group != UINT32_MAX)
        put32(p, (group ^ number) | ((uint32_t)share_permuted(m, PERMUTE_IPV4, address, 32) &
                                     ((1u << CLASS) - 1)));
}

/* ---- IPv6 addresses and GIDs */

void share_prefix(struct share_map *m, uint8_t p[8])
{
    put64(p, share_permuted(m, PERMUTE_PREFIX, be64(p), 64));
}

/* The second half of a unicast address. ::1 stays; ::ffff:10.1.2.3 contains an IPv4 address. */
static void map_id(struct share_map *m, bool has_prefix, uint8_t p[8])
{
    enum { LOOPBACK = 1, IPV4_MAPPED = 0xffff };

    if (!has_prefix && be32(p) == IPV4_MAPPED)
        share_ipv4(m, p + 4);
    else if (has_prefix || be64(p) != LOOPBACK)
        share_guid(m, p);
}

void share_group6(struct share_map *m, uint8_t p[16])
{
    uint8_t prefix[GID_HALF];
    uint32_t of_prefix = be32(p + MGID_SIGNATURE); /* network prefix in the address (RFC 3306) */

    memcpy(prefix, p, GID_HALF);
    share_prefix(m, prefix);
    if (p[0] == 0xff)
        put32(prefix + MGID_SIGNATURE,
              (uint32_t)share_permuted_but_0(m, PERMUTE_GROUP_LOW, of_prefix, 32));
    map_group_rest(m, (uint16_t)be16(p + MGID_GROUP), p + GID_HALF);
    map_group_top(m, p + MGID_GROUP);
    memcpy(p, prefix, MGID_GROUP);
}

void share_ipv6(struct share_map *m, uint8_t p[16])
{
    if (p[0] == 0xff)
        share_group6(m, p);
    else
        share_gid(m, p);
}

static bool is_of_ipv4(const uint8_t *mgid)
{
    return be16(mgid + MGID_SIGNATURE) == MGID_SIGNATURE_IPV4;
}

void share_gid_first(struct share_map *m, uint8_t p[GID_HALF])
{
    if (p[0] != 0xff)
        share_prefix(m, p);
    else if (!is_of_ipv4(p))
        map_group_top(m, p + MGID_GROUP);
}

void share_gid_second(struct share_map *m, const uint8_t first[GID_HALF], uint8_t p[GID_HALF])
{
    if (first[0] != 0xff)
        map_id(m, !are_zero(first, GID_HALF), p);
    else if (is_of_ipv4(first))
        share_group4(m, p + (MGID_GROUP_IPV4 - GID_HALF));
    else
        map_group_rest(m, (uint16_t)be16(first + MGID_GROUP), p);
}

void share_gid(struct share_map *m, uint8_t p[16])
{
    share_gid_second(m, p, p + GID_HALF);
    share_gid_first(m, p);
}

void share_lladdr(struct share_map *m, uint8_t p[20])
{
    share_gid(m, p + LLADDR_GID);
}

/* ---- bytes and names */

/* A few bytes: one permutation would preserve prefixes, the second hides them. */
static void map_number_of_bytes(struct share_map *m, uint8_t *p, unsigned n)
{
    enum permutation_kind kind = (enum permutation_kind)(PERMUTE_OCTETS + n);

    for (int turn = 0; turn < 2; turn++) {
        uint64_t value = 0;

        for (unsigned i = 0; i < n; i++)
            value = value << 8 | p[i];
        value = share_permuted_but_0(m, kind, value, 8 * n);
        for (unsigned i = 0; i < n; i++) /* reversed */
            p[i] = (uint8_t)(value >> 8 * i);
    }
}

void share_bytes(struct share_map *m, uint8_t *p, size_t n)
{
    uint64_t h;

    if (n < sizeof(h)) {
        map_number_of_bytes(m, p, (unsigned)n);
        return;
    }
    if (are_zero(p, n))
        return;
    h = share_hash(m, p, n);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(share_keyed(m, h, i / 8) >> i % 8 * 8);
}

void share_name(struct share_map *m, uint8_t *p, size_t n)
{
    char name[16];
    size_t len;

    if (are_zero(p, n))
        return;
    snprintf(name, sizeof(name), "name-%08x", (unsigned)share_hash(m, p, strnlen((char *)p, n)));
    len = strlen(name) < n ? strlen(name) : n;
    memset(p, 0, n);
    memcpy(p, name, len);
}
