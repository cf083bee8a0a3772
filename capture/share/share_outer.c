/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises outer headers. See share_outer.h. */
#include "capture/share/share_outer.h"

#include <string.h>

#include "wire/checksum.h"
#include "wire/ib.h"
#include "wire/ip.h"
#include "wire/put.h"

enum { MAC_SIZE = 6, MAC_OUI = 3 };

/* ---- Ethernet */

/* Maps a MAC address; a group address (see share_group_mac) and the manufacturer (OUI) stay. */
static void share_mac(struct share_map *m, uint8_t *p)
{
    if (!(p[0] & 1))
        share_bytes(m, p + MAC_OUI, MAC_SIZE - MAC_OUI);
}

/*
 * Maps the MAC address of an IP group, which ends with bits of the group's address (RFC 1112
 * section 6.4, RFC 2464 section 7). GROUP_END: the end of the mapped address.
 */
static void share_group_mac(uint8_t *mac, const uint8_t *group_end)
{
    static const uint8_t ipv4_group[] = {0x01, 0x00, 0x5e}, ipv6_group[] = {0x33, 0x33};

    if (memcmp(mac, ipv6_group, sizeof(ipv6_group)) == 0)
        memcpy(mac + 2, group_end - 4, 4);
    else if (memcmp(mac, ipv4_group, sizeof(ipv4_group)) == 0)
        put24(mac + 3, be24(group_end - 3) & 0x7fffff);
}

/* RoCE v1: the group is the destination GID of the GRH, which is not mapped yet. */
static void share_group_mac_v1(struct share_map *m, struct span whole, uint32_t grh)
{
    uint8_t gid[GID_SIZE] = {0};

    if (grh + GRH_SIZE <= whole.cap)
        memcpy(gid, whole.p + grh + GRH_DGID, GID_SIZE);
    share_gid(m, gid);
    share_group_mac(whole.p, gid + GID_SIZE);
}

enum { IPV4_CHECKSUM_AT = 10, UDP_HEADER = 8, UDP_CHECKSUM_AT = 6 };

/* The headers end at END, the start of UDP's payload. */
static void share_outer_ipv4(struct share_map *m, uint8_t *ip, const uint8_t *end)
{
    uint32_t head = (ip[0] & 0xfu) * 4;

    share_ipv4(m, ip + IPV4_SOURCE);
    share_ipv4(m, ip + IPV4_DESTINATION);
    if (head < IPV4_SIZE || head + UDP_HEADER > (uint32_t)(end - ip))
        return;
    memset(ip + IPV4_SIZE, 0, head - IPV4_SIZE);
    put16(ip + IPV4_CHECKSUM_AT, 0);
    put16(ip + IPV4_CHECKSUM_AT, checksum_fold(checksum_add(0, ip, head)));
}

static void share_outer_ipv6(struct share_map *m, uint8_t *ip)
{
    share_ipv6(m, ip + IPV6_SOURCE);
    share_ipv6(m, ip + IPV6_DESTINATION);
}

/* RoCE v2 sends a UDP checksum of 0, which means none (InfiniBand annex A17). */
static void share_ethernet(struct share_map *m, struct span whole, const uint8_t *before,
                           const struct link_frame *c)
{
    uint8_t *inner = whole.p + (c->inner.p - before), *source;

    share_mac(m, whole.p);
    share_mac(m, whole.p + MAC_SIZE);
    if (c->outer.length == 0) {
        share_group_mac_v1(m, whole, (uint32_t)(c->inner.p - before));
        return;
    }
    source = whole.p + (c->outer.src - before);
    if (c->outer.length == IPV4_ADDRESS_SIZE)
        share_outer_ipv4(m, source - IPV4_SOURCE, inner);
    else
        share_outer_ipv6(m, source - IPV6_SOURCE);
    share_group_mac(whole.p, source + 2 * (size_t)c->outer.length);
    put16(inner - UDP_HEADER + UDP_CHECKSUM_AT, 0);
}

/* ---- frames without InfiniBand headers */

/*
 * The pseudo header of LINKTYPE_IPOIB: a GRH, or the destination's address after 20 bytes that have
 * no meaning.
 */
static void share_dlt_ipoib(struct share_map *m, struct span whole, bool has_grh)
{
    if (whole.cap < DLT_IPOIB_PSEUDO)
        return;
    if (has_grh) {
        share_gid(m, whole.p + GRH_SGID);
        share_gid(m, whole.p + GRH_DGID);
        return;
    }
    memset(whole.p, 0, DLT_IPOIB_ADDRESS);
    share_lladdr(m, whole.p + DLT_IPOIB_ADDRESS);
}

/* A cooked header has the first 8 bytes of the sender's address: flags and QPN, and a prefix. */
enum { SLL_ADDRESS_AT = 6, SLL2_ADDRESS_AT = 12, COOKED_ADDRESS = 8, FLAGS_AND_QPN = 4 };

static void share_cooked(struct span whole, uint32_t address)
{
    span_clear_part(whole, address + FLAGS_AND_QPN, COOKED_ADDRESS - FLAGS_AND_QPN);
}

void share_outer(struct share_map *m, uint32_t linktype, struct span whole, const uint8_t *before,
                 const struct link_frame *c)
{
    switch (linktype) {
    case LINKTYPE_ETHERNET:
        share_ethernet(m, whole, before, c);
        break;
    case LINKTYPE_IPOIB:
        share_dlt_ipoib(m, whole,
                        dlt_ipoib_has_grh(view_make(before, whole.cap,
                                                    c->inner.len + (uint32_t)DLT_IPOIB_PSEUDO)));
        break;
    case LINKTYPE_LINUX_SLL:
        share_cooked(whole, SLL_ADDRESS_AT);
        break;
    case LINKTYPE_LINUX_SLL2:
        share_cooked(whole, SLL2_ADDRESS_AT);
        break;
    default:
        break;
    }
}
