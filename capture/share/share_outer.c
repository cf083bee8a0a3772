/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises outer headers. See share_outer.h. */
#include "capture/share/share_outer.h"

#include <string.h>

#include "capture/share/share_layout.h"
#include "capture/share/share_packet.h"
#include "wire/checksum.h"
#include "wire/ip.h"
#include "wire/put.h"

/* ---- Ethernet */

enum { MAC_SIZE = 6, ETHERNET_TYPE = 2 * MAC_SIZE };

/*
 * Maps the MAC address of an IP group, which ends with bits of the group's address (RFC 1112
 * section 6.4, RFC 2464 section 7). GROUP_END: the end of the mapped address.
 */
static void share_group_mac(struct part p, const uint8_t *group_end)
{
    static const uint8_t ipv4_group[] = {0x01, 0x00, 0x5e}, ipv6_group[] = {0x33, 0x33};

    if (memcmp(p.from, ipv6_group, sizeof(ipv6_group)) == 0)
        memcpy(p.to + 2, group_end - 4, 4);
    else if (memcmp(p.from, ipv4_group, sizeof(ipv4_group)) == 0)
        put24(p.to + 3, be24(group_end - 3) & 0x7fffff);
}

/* RoCE v1: the group is the destination GID of the GRH. */
static void share_roce1(struct part p, uint32_t grh)
{
    uint8_t gid[GID_SIZE] = {0};

    part_keep(p, ETHERNET_TYPE, grh - ETHERNET_TYPE); /* tags of VLANs, type */
    if (part_has(p, grh, GRH_SIZE))
        memcpy(gid, p.from + grh + GRH_DGID, GID_SIZE);
    share_gid(p.map, gid);
    share_group_mac(p, gid + GID_SIZE);
}

/* up to the protocol; checksum; addresses. Options stay zero, the end of the options. */
static const struct field ipv4_layout[] = {KEEP(80), ZERO(16), MAP_IPV4, MAP_IPV4, LAYOUT_END};
static const struct field ipv6_layout[] = {KEEP(64), MAP_IPV6, MAP_IPV6, LAYOUT_END};
/* ports, length. RoCE v2 sends a checksum of 0, which means none (InfiniBand annex A17). */
static const struct field udp_layout[] = {KEEP(48), LAYOUT_END};
enum { IPV4_CHECKSUM = 10, UDP_SIZE = 8 };

static void share_roce2(struct part p, uint32_t inner, const struct outer_ip *outer)
{
    bool is_ipv4 = outer->length == IPV4_ADDRESS_SIZE;
    uint32_t source = (uint32_t)(outer->src - p.from),
             at = source - (is_ipv4 ? IPV4_SOURCE : IPV6_SOURCE), udp = inner - UDP_SIZE;
    uint8_t *ip = p.to + at;

    part_keep(p, ETHERNET_TYPE, at - ETHERNET_TYPE);
    share_layout(part_from(p, at), is_ipv4 ? ipv4_layout : ipv6_layout);
    if (is_ipv4)
        put16(ip + IPV4_CHECKSUM, checksum_fold(checksum_add(0, ip, udp - at)));
    share_layout(part_from(p, udp), udp_layout);
    share_group_mac(p, p.to + source + 2 * (size_t)outer->length);
}

static void share_ethernet(struct part p, const struct link_frame *c)
{
    uint32_t inner = (uint32_t)(c->inner.p - p.from);

    part_map(p, MAC, 0, MAC_SIZE);
    part_map(p, MAC, MAC_SIZE, MAC_SIZE);
    if (c->outer.length == 0)
        share_roce1(p, inner);
    else
        share_roce2(p, inner, &c->outer);
}

/* ---- ERF records */

/*
 * Keeps the header. Of the extension headers the types stay, and of the Host ID also the source;
 * the number of the capturing host is mapped.
 */
static void share_erf(struct part p)
{
    bool more = p.cap > ERF_HEADER_LEN && p.from[ERF_OFF_TYPE] & ERF_TYPE_MORE;

    part_keep(p, 0, ERF_HEADER_LEN);
    for (uint32_t at = ERF_HEADER_LEN; more && part_has(p, at, ERF_EXT_LEN); at += ERF_EXT_LEN) {
        bool is_host = (p.from[at] & ERF_TYPE_MASK) == ERF_EXT_HOST_ID;
        more = p.from[at] & ERF_TYPE_MORE;
        part_keep(p, at, is_host ? 2 : 1);
        if (is_host)
            part_map(p, OCTETS, at + 2, ERF_EXT_LEN - 2);
    }
}

/* ---- frames without InfiniBand headers */

/* The destination's address, after 20 bytes that have no meaning */
static const struct field dlt_ipoib_layout[] = {ZERO(160), MAP_LLADDR, LAYOUT_END};

/*
 * A cooked header has the first 8 bytes of the sender's address: flags and QPN, which are kept, and
 * half of a prefix. Before them: packet type, hardware type, length of the address. After them: the
 * protocol.
 */
static const struct field sll_layout[] = {KEEP(80), ZERO(32), KEEP(16), LAYOUT_END};
/* protocol; interface, hardware type, packet type, length of the address; address as above */
static const struct field sll2_layout[] = {KEEP(16), ZERO(16), KEEP(96), LAYOUT_END};

void share_outer(struct part p, uint32_t len, uint32_t linktype, const struct link_frame *c)
{
    switch (linktype) {
    case LINKTYPE_ERF:
        share_erf(p);
        break;
    case LINKTYPE_ETHERNET:
        share_ethernet(p, c);
        break;
    case LINKTYPE_IPOIB:
        share_layout(p, dlt_ipoib_has_grh(view_make(p.from, p.cap, len)) ? grh_layout
                                                                         : dlt_ipoib_layout);
        break;
    case LINKTYPE_LINUX_SLL:
        share_layout(p, sll_layout);
        break;
    case LINKTYPE_LINUX_SLL2:
        share_layout(p, sll2_layout);
        break;
    default:
        break;
    }
}
