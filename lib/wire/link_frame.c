/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/link_frame.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/ip.h"
#include "wire/lladdr.h"

enum { ETH_TYPE = 12, ETH_SIZE = 14, VLAN_SIZE = 4 };
/* IEEE 802.1Q: C-TAG, S-TAG; a frame may have several */
enum { VLAN_CUSTOMER = 0x8100, VLAN_SERVICE = 0x88a8 };
enum { IPV4_WORDS = 5 }; /* the smallest header length, in words of 4 bytes */
enum { UDP_DPORT = 2, UDP_LENGTH = 4, UDP_SIZE = 8, PROTOCOL_UDP = 17 };

bool dlt_ipoib_has_grh(struct view v)
{
    if (v.cap < DLT_IPOIB_PSEUDO)
        return false;
    uint32_t rest = v.len - DLT_IPOIB_PSEUDO, said = be16(v.p + GRH_PAY_LEN);
    /*
     * The GRH's payload length includes BTH, DETH, payload, pad and ICRC. The file contains the
     * payload, rarely more.
     */
    return v.p[0] >> 4 == 6 && v.p[GRH_NXT_HDR] == GRH_NXT_HDR_BTH && said >= rest;
}

static enum wire_result locate_ERF(struct view v, struct link_frame *c)
{
    uint32_t off = ERF_HEADER_LEN;
    enum wire_result r = view_has(v, 0, off);
    if (r != WIRE_OK)
        return r;
    if ((v.p[ERF_OFF_TYPE] & ERF_TYPE_MASK) != ERF_TYPE_INFINIBAND)
        return WIRE_OK;
    uint32_t wlen = be16(v.p + ERF_OFF_WLEN);
    uint64_t host = 0;
    unsigned n = 0;
    for (uint8_t more = v.p[ERF_OFF_TYPE]; more & ERF_TYPE_MORE; off += ERF_EXT_LEN) {
        r = view_has(v, off, ERF_EXT_LEN);
        if (r != WIRE_OK)
            return r;
        more = v.p[off];
        if (n++ < ERF_EXT_READ)
            host = erf_host(host, be64(v.p + off));
    }
    c->port = erf_port(v.p[ERF_OFF_FLAGS], host);
    c->kind = LINK_FRAME_IB;
    c->start = IB_START_LRH;
    c->inner = view_from(v, off);
    /*
     * Capture cards pad records to a multiple of 8 bytes. Some writers leave the length on the wire
     * empty.
     */
    c->inner.len = wlen ? wlen : c->inner.cap;
    if (c->inner.cap > c->inner.len)
        c->inner.cap = c->inner.len;
    return WIRE_OK;
}

/* RoCE v2: a UDP datagram to this port; its header is at off. */
static enum wire_result locate_udp(struct view v, uint32_t off, uint16_t port, struct link_frame *c)
{
    enum wire_result r = view_has(v, off, UDP_SIZE);
    if (r != WIRE_OK)
        return r;
    if (be16(v.p + off + UDP_DPORT) != port)
        return WIRE_OK;
    uint32_t length = be16(v.p + off + UDP_LENGTH);
    c->kind = LINK_FRAME_IB;
    c->start = IB_START_BTH;
    c->inner = view_sub(v, off + UDP_SIZE, length >= UDP_SIZE ? length - UDP_SIZE : 0);
    return WIRE_OK;
}

/* A fragment contains a part of a UDP datagram; nothing here reassembles it. */
static bool is_fragment(const uint8_t *ipv4)
{
    return be16(ipv4 + IPV4_FRAGMENT) & IPV4_FRAGMENTED;
}

/* An IP packet at off. Its addresses identify the ports, because RoCE v2 has no other addresses. */
static enum wire_result locate_ip(struct view v, uint32_t off, uint16_t type, uint16_t port,
                                  struct link_frame *c)
{
    const uint8_t *ip = v.p + off;
    uint32_t header;
    if (type == TYPE_IPV4 && view_has(v, off, IPV4_SIZE) == WIRE_OK &&
        (ip[0] & 0xf) >= IPV4_WORDS && ip[IPV4_PROTOCOL] == PROTOCOL_UDP && !is_fragment(ip)) {
        c->outer = (struct outer_ip){ip + IPV4_SOURCE, ip + IPV4_DESTINATION, IPV4_ADDRESS_SIZE};
        header = (ip[0] & 0xfu) * 4;
    } else if (type == TYPE_IPV6 && view_has(v, off, IPV6_SIZE) == WIRE_OK &&
               ip[IPV6_NEXT_HEADER] == PROTOCOL_UDP) {
        c->outer = (struct outer_ip){ip + IPV6_SOURCE, ip + IPV6_DESTINATION, IPV6_ADDRESS_SIZE};
        header = IPV6_SIZE;
    } else {
        return WIRE_OK;
    }
    return locate_udp(v, off + header, port, c);
}

static enum wire_result locate_ethernet(struct view v, uint16_t port, struct link_frame *c)
{
    uint32_t off = ETH_SIZE;
    enum wire_result r = view_has(v, 0, off);
    if (r != WIRE_OK)
        return r;
    uint16_t type = be16(v.p + ETH_TYPE);
    for (; type == VLAN_CUSTOMER || type == VLAN_SERVICE; off += VLAN_SIZE) {
        r = view_has(v, off, VLAN_SIZE);
        if (r != WIRE_OK)
            return r;
        type = be16(v.p + off + 2);
    }
    if (type != ETHERTYPE_ROCE)
        return locate_ip(v, off, type, port, c);
    c->kind = LINK_FRAME_IB;
    c->start = IB_START_GRH;
    c->inner = view_from(v, off);
    return WIRE_OK;
}

static enum wire_result locate_ETHERNET(struct view v, struct link_frame *c)
{
    return locate_ethernet(v, UDP_PORT_ROCE2, c);
}

bool link_frame_begins_lrh(struct view v)
{
    enum { VERSION = 0x0f, RESERVED = 0x0c, IBA_TRANSPORT = 0x02, RESERVED_LENGTH = 0xf8 };
    enum { LENGTH = 4, WORD = 4, VCRC = 2, LENGTH_MASK = 0x7ff };
    if (view_has(v, 0, LRH_SIZE + BTH_SIZE) != WIRE_OK || v.p[0] & VERSION || v.p[1] & RESERVED ||
        !(v.p[1] & IBA_TRANSPORT) || v.p[LENGTH] & RESERVED_LENGTH)
        return false;
    uint32_t length = (be16(v.p + LENGTH) & LENGTH_MASK) * WORD;
    return v.len == length || v.len == length + VCRC;
}

enum wire_result link_frame_locate_roce(struct view v, uint16_t port, struct link_frame *c)
{
    memset(c, 0, sizeof *c);
    return locate_ethernet(v, port, c);
}

static enum wire_result locate_cooked(struct view v, uint32_t hatype, uint32_t protocol,
                                      uint32_t size, struct link_frame *c)
{
    enum wire_result r = view_has(v, 0, size);
    if (r != WIRE_OK || be16(v.p + hatype) != ARP_HRD_INFINIBAND)
        return r;
    c->kind = LINK_FRAME_COOKED;
    c->type = be16(v.p + protocol);
    c->inner = view_from(v, size);
    return WIRE_OK;
}

static enum wire_result locate_LINUX_SLL(struct view v, struct link_frame *c)
{
    return locate_cooked(v, SLL_HATYPE, SLL_PROTOCOL, SLL_SIZE, c);
}

static enum wire_result locate_LINUX_SLL2(struct view v, struct link_frame *c)
{
    return locate_cooked(v, SLL2_HATYPE, SLL2_PROTOCOL, SLL2_SIZE, c);
}

static enum wire_result locate_INFINIBAND(struct view v, struct link_frame *c)
{
    c->kind = LINK_FRAME_IB;
    c->start = IB_START_LRH;
    c->inner = v;
    return WIRE_OK;
}

static enum wire_result locate_IPOIB(struct view v, struct link_frame *c)
{
    c->kind = LINK_FRAME_IPOIB;
    c->inner = view_from(v, DLT_IPOIB_PSEUDO);
    if (v.cap >= DLT_IPOIB_PSEUDO &&
        (dlt_ipoib_has_grh(v) || be24(v.p + DLT_IPOIB_ADDRESS + LLADDR_QPN) == QPN_MULTICAST))
        c->dgid = v.p + DLT_IPOIB_DGID;
    return view_has(v, 0, DLT_IPOIB_PSEUDO);
}

bool link_frame_is_unknown(int linktype, struct view v)
{
    if (linktype != LINKTYPE_ERF || view_has(v, 0, ERF_HEADER_LEN) != WIRE_OK)
        return !linktype_is_known((uint32_t)linktype);
    uint8_t type = v.p[ERF_OFF_TYPE] & ERF_TYPE_MASK;
    return type != ERF_TYPE_INFINIBAND && type != ERF_TYPE_META && type != ERF_TYPE_PAD;
}

enum wire_result link_frame_locate(int linktype, struct view v, struct link_frame *c)
{
    memset(c, 0, sizeof *c);
    switch (linktype) {
#define LINKTYPE(name, number, wiretap, headers)                                                   \
    case number:                                                                                   \
        return locate_##name(v, c);
#include "wire/linktypes.def"
#undef LINKTYPE
    default:
        return WIRE_OK;
    }
}
