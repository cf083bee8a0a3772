/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/carrier.h"
#include "wire/arp.h"
#include "wire/encap.h"

enum { ETH_TYPE = 12, ETH_SIZE = 14, VLAN_TAG = 0x8100, VLAN_SIZE = 4, IPV4_PROTOCOL = 9, IPV6_NEXT = 6, IPV6_HEADER = 40 };
enum { UDP_DPORT = 2, UDP_LENGTH = 4, UDP_SIZE = 8, PROTOCOL_UDP = 17 };

bool dlt_ipoib_has_grh(struct view v)
{
    if (v.cap < DLT_IPOIB_PSEUDO)
        return false;
    uint32_t rest = v.len - DLT_IPOIB_PSEUDO, said = be16(v.p + GRH_PAY_LEN);
    /* The GRH counts BTH, DETH, payload, pad and ICRC; of them the file keeps the payload, rarely more. */
    return v.p[0] >> 4 == 6 && v.p[GRH_NXT_HDR] == GRH_NXT_HDR_BTH && said >= rest;
}

static enum wire_result locate_erf(struct view v, struct carrier *c)
{
    uint32_t off = ERF_HEADER_LEN;
    enum wire_result r = view_has(v, 0, off);
    if (r != WIRE_OK)
        return r;
    if ((v.p[ERF_OFF_TYPE] & ERF_TYPE_MASK) != ERF_TYPE_INFINIBAND)
        return WIRE_OK;
    uint32_t wlen = be16(v.p + ERF_OFF_WLEN);
    for (uint8_t more = v.p[ERF_OFF_TYPE]; more & ERF_TYPE_MORE; off += ERF_EXT_LEN) {
        r = view_has(v, off, ERF_EXT_LEN);
        if (r != WIRE_OK)
            return r;
        more = v.p[off];
    }
    c->kind = CARRIER_IB;
    c->start = IB_START_LRH;
    c->inner = view_from(v, off);
    c->inner.len = wlen > c->inner.cap ? wlen : c->inner.cap;
    return WIRE_OK;
}

/* RoCE v2: a UDP datagram to port 4791; ip begins at the IP header. */
static enum wire_result locate_udp(struct view v, uint32_t off, struct carrier *c)
{
    enum wire_result r = view_has(v, off, UDP_SIZE);
    if (r != WIRE_OK)
        return r;
    if (be16(v.p + off + UDP_DPORT) != UDP_PORT_ROCE2)
        return WIRE_OK;
    uint32_t length = be16(v.p + off + UDP_LENGTH);
    c->kind = CARRIER_IB;
    c->start = IB_START_BTH;
    c->inner = view_sub(v, off + UDP_SIZE, length >= UDP_SIZE ? length - UDP_SIZE : 0);
    return WIRE_OK;
}

static enum wire_result locate_ethernet(struct view v, struct carrier *c)
{
    uint32_t off = ETH_SIZE;
    enum wire_result r = view_has(v, 0, off);
    if (r != WIRE_OK)
        return r;
    uint16_t type = be16(v.p + ETH_TYPE);
    for (; type == VLAN_TAG; off += VLAN_SIZE) {
        r = view_has(v, off, VLAN_SIZE);
        if (r != WIRE_OK)
            return r;
        type = be16(v.p + off + 2);
    }
    if (type == ETHERTYPE_ROCE) {
        c->kind = CARRIER_IB;
        c->start = IB_START_GRH;
        c->inner = view_from(v, off);
    } else if (type == TYPE_IPV4 && view_has(v, off, 20) == WIRE_OK && v.p[off + IPV4_PROTOCOL] == PROTOCOL_UDP) {
        return locate_udp(v, off + (v.p[off] & 0xfu) * 4, c);
    } else if (type == TYPE_IPV6 && view_has(v, off, IPV6_HEADER) == WIRE_OK && v.p[off + IPV6_NEXT] == PROTOCOL_UDP) {
        return locate_udp(v, off + IPV6_HEADER, c);
    }
    return WIRE_OK;
}

static enum wire_result locate_cooked(struct view v, uint32_t hatype, uint32_t protocol, uint32_t size, struct carrier *c)
{
    enum wire_result r = view_has(v, 0, size);
    if (r != WIRE_OK || be16(v.p + hatype) != ARP_HRD_INFINIBAND)
        return r;
    c->kind = CARRIER_COOKED;
    c->type = be16(v.p + protocol);
    c->inner = view_from(v, size);
    return WIRE_OK;
}

enum wire_result carrier_locate(int linktype, struct view v, struct carrier *c)
{
    memset(c, 0, sizeof *c);
    switch (linktype) {
    case LINKTYPE_INFINIBAND:
        c->kind = CARRIER_IB;
        c->start = IB_START_LRH;
        c->inner = v;
        return WIRE_OK;
    case LINKTYPE_ERF:
        return locate_erf(v, c);
    case LINKTYPE_IPOIB:
        c->kind = CARRIER_IPOIB;
        c->inner = view_from(v, DLT_IPOIB_PSEUDO);
        return view_has(v, 0, DLT_IPOIB_PSEUDO);
    case LINKTYPE_LINUX_SLL:
        return locate_cooked(v, SLL_HATYPE, SLL_PROTOCOL, SLL_SIZE, c);
    case LINKTYPE_LINUX_SLL2:
        return locate_cooked(v, SLL2_HATYPE, SLL2_PROTOCOL, SLL2_SIZE, c);
    case LINKTYPE_ETHERNET:
        return locate_ethernet(v, c);
    default:
        return WIRE_OK;
    }
}
