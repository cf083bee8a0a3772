/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * InfiniBand packets: local and global route headers, transport headers, and the position of the
 * payload. Offsets follow the InfiniBand Architecture Specification (IBA) volume 1: LRH 7.7, GRH
 * 8.3, BTH 9.2, extended transport headers 9.3, CRCs 7.8, operation codes table 38 (9.2.1).
 */
#ifndef IPOIB_WIRE_IB_H
#define IPOIB_WIRE_IB_H

#include "wire/view.h"

/* Local Route Header (IBA 7.7) */
enum {
    LRH_VL_LVER = 0, /* virtual lane (4 bits), link version (4) */
    LRH_SL_LNH = 1,  /* service level (4), reserved (2), link next header (2) */
    LRH_DLID = 2,
    LRH_PKT_LEN = 4, /* reserved (5), length in words of 4 bytes, from LRH to ICRC (11) */
    LRH_SLID = 6,
    LRH_SIZE = 8,
};
enum { LNH_RAW = 0, LNH_IPV6 = 1, LNH_BTH = 2, LNH_GRH = 3 };

/* Global Route Header (IBA 8.3) */
enum {
    GRH_VER_TCLASS_FLOW = 0, /* IP version (4), traffic class (8), flow label (20) */
    GRH_PAY_LEN = 4,         /* bytes from the BTH to the ICRC */
    GRH_NXT_HDR = 6,         /* 0x1b: a BTH follows */
    GRH_HOP_LMT = 7,
    GRH_SGID = 8,
    GRH_DGID = 24,
    GRH_SIZE = 40,
};
#define GRH_NXT_HDR_BTH 0x1b

/* Base Transport Header (IBA 9.2) */
enum {
    BTH_OPCODE = 0,
    /* solicited event (1), MigReq (1), pad count (2), transport version (4) */
    BTH_SE_M_PAD_TVER = 1,
    BTH_PKEY = 2,
    BTH_FECN_BECN = 4,
    BTH_DEST_QP = 5,
    BTH_ACK_REQ = 8, /* acknowledge request (1), reserved (7) */
    BTH_PSN = 9,
    BTH_SIZE = 12,
};

/* Datagram Extended Transport Header (IBA 9.3.3) */
enum { DETH_QKEY = 0, DETH_SRC_QP = 5, DETH_SIZE = 8 };

enum {
    RDETH_SIZE = 4,
    RETH_SIZE = 16,
    AETH_SIZE = 4,
    IMMDT_SIZE = 4,
    IETH_SIZE = 4,
    XRCETH_SIZE = 4,
    ATOMIC_ETH_SIZE = 28,
    ATOMIC_ACK_ETH_SIZE = 8,
};
enum { ICRC_SIZE = 4, VCRC_SIZE = 2, GID_SIZE = 16 };

enum { QPN_SMI, QPN_GSI };            /* the QPs of management (IBA 13.5.1) */
#define QPN_MULTICAST       0xffffffu /* the destination QP of a multicast packet (IBA 10.5.1) */
#define QPN_MASK            0xffffffu
#define PSN_MASK            0xffffffu
#define LID_MULTICAST_FIRST 0xc000u /* IBA 4.1.3 */
#define LID_PERMISSIVE      0xffffu

/* The three high bits of the operation code. */
enum ib_transport {
    IB_RC = 0,
    IB_UC = 1,
    IB_RD = 2,
    IB_UD = 3,
    IB_CNP = 4,
    IB_XRC = 5,
    IB_TRANSPORT_UNKNOWN = 8,
};

/* Kind of the operation. */
enum ib_kind {
    IB_KIND_OTHER, /* acknowledge, atomic, read request: no payload for a receive queue */
    IB_KIND_SEND,
    IB_KIND_WRITE,
    IB_KIND_READ_RESPONSE,
};

enum { OPCODE_ACKNOWLEDGE = 0x11 }; /* of RC (IBA 9.2.1) */

/* Position of a packet in its message. */
enum ib_position { IB_ONLY, IB_FIRST, IB_MIDDLE, IB_LAST };

/* The header at which the packet data start. */
enum ib_start { IB_START_LRH, IB_START_GRH, IB_START_BTH };

struct ib_packet {
    enum ib_start start;
    bool has_lrh, has_grh, has_bth, has_deth;
    uint16_t grh_off, bth_off, deth_off; /* bytes from the start of the packet */

    uint8_t lver, sl, lnh;
    uint16_t dlid, slid;
    /* bytes of the packet without VCRC, by LRH or GRH; 0: the headers have no length */
    uint32_t length;

    uint8_t tclass, hop_limit;
    uint32_t flow_label;
    const uint8_t *sgid, *dgid; /* pointers into the packet; NULL without a GRH */

    uint8_t opcode, pad, tver;
    uint16_t pkey;
    uint32_t dqpn, psn;
    enum ib_transport transport;
    enum ib_kind kind;
    enum ib_position position;
    bool immediate; /* a SEND or WRITE with immediate data, or a SEND with Invalidate */

    uint32_t qkey, sqpn; /* datagrams only */

    uint32_t payload_off; /* bytes from the start of the packet */
    struct view payload;  /* without pad bytes and ICRC */
};

/*
 * Decode the headers of the packet in v.
 *
 *   WIRE_OK         all headers were captured; payload is set (payload.cap < payload.len if the
 *                   packet is truncated)
 *   WIRE_TRUNCATED  the captured data end within the headers; has_lrh, has_grh, has_bth and
 *                   has_deth show which were decoded
 *   WIRE_MALFORMED  the frame itself ends within the headers, or its length leaves no room for pad
 *                   and ICRC
 *   WIRE_FOREIGN    a raw packet, a GRH without a BTH, an unknown operation code, or a link or
 *                   transport version other than 0 (IBA 7.7, 9.2: receivers drop such packets)
 */
enum wire_result ib_decode(struct view v, enum ib_start start, struct ib_packet *ib);

/*
 * Does v look like an InfiniBand packet that starts with an LRH? For encapsulations that do not
 * identify their contents. Checks that ib_decode() accepts it and that the length fits the frame
 * (with both CRCs, without VCRC, or with none). Reserved bits are ignored, as receivers do.
 */
bool ib_plausible(struct view v);

/* A GID of the prefix fe80::/64 never leaves its subnet, and every port has one (IBA 4.1.1). */
static inline bool gid_has_default_prefix(const uint8_t *gid)
{
    return be64(gid) == UINT64_C(0xfe80) << 48;
}

static inline bool ib_is_multicast(const struct ib_packet *ib)
{
    return ib->dqpn == QPN_MULTICAST || (ib->dgid && ib->dgid[0] == 0xff);
}

/* With the LID of a port, a packet is no multicast, even if its QPN is that of multicast. */
static inline bool ib_goes_to_group(const struct ib_packet *ib)
{
    return ib_is_multicast(ib) && !(ib->has_lrh && ib->dlid < LID_MULTICAST_FIRST);
}

/* The only or the First packet of a SEND message without immediate data, as IPoIB's are. */
static inline bool ib_begins_message(const struct ib_packet *ib)
{
    return ib->kind == IB_KIND_SEND && !ib->immediate &&
           (ib->position == IB_ONLY || ib->position == IB_FIRST);
}

/* The distance between two 24-bit packet sequence numbers, -2^23 .. 2^23-1 (IBA 9.7.2). */
static inline int32_t psn_distance(uint32_t from, uint32_t to)
{
    uint32_t d = (to - from) & PSN_MASK;
    return d & 0x800000u ? (int32_t)d - 0x1000000 : (int32_t)d;
}

#endif
