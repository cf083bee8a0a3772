/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/ib.h"

enum { HAS_IMM = 1, HAS_INV = 2, HAS_RETH = 4, HAS_AETH = 8, HAS_ATOMIC = 16, HAS_ATOMIC_ACK = 32 };

/*
 * Operations by the five low bits of the operation code, the same for every transport (IBA 9.2.1,
 * table 38).
 */
static const struct operation {
    uint8_t known, kind, position, headers;
} operations[32] = {
    [0x00] = {1, IB_KIND_SEND, IB_FIRST, 0},
    [0x01] = {1, IB_KIND_SEND, IB_MIDDLE, 0},
    [0x02] = {1, IB_KIND_SEND, IB_LAST, 0},
    [0x03] = {1, IB_KIND_SEND, IB_LAST, HAS_IMM},
    [0x04] = {1, IB_KIND_SEND, IB_ONLY, 0},
    [0x05] = {1, IB_KIND_SEND, IB_ONLY, HAS_IMM},
    [0x06] = {1, IB_KIND_WRITE, IB_FIRST, HAS_RETH},
    [0x07] = {1, IB_KIND_WRITE, IB_MIDDLE, 0},
    [0x08] = {1, IB_KIND_WRITE, IB_LAST, 0},
    [0x09] = {1, IB_KIND_WRITE, IB_LAST, HAS_IMM},
    [0x0a] = {1, IB_KIND_WRITE, IB_ONLY, HAS_RETH},
    [0x0b] = {1, IB_KIND_WRITE, IB_ONLY, HAS_RETH | HAS_IMM},
    [0x0c] = {1, IB_KIND_OTHER, IB_ONLY, HAS_RETH},
    [0x0d] = {1, IB_KIND_READ_RESPONSE, IB_FIRST, HAS_AETH},
    [0x0e] = {1, IB_KIND_READ_RESPONSE, IB_MIDDLE, 0},
    [0x0f] = {1, IB_KIND_READ_RESPONSE, IB_LAST, HAS_AETH},
    [0x10] = {1, IB_KIND_READ_RESPONSE, IB_ONLY, HAS_AETH},
    [0x11] = {1, IB_KIND_OTHER, IB_ONLY, HAS_AETH},
    [0x12] = {1, IB_KIND_OTHER, IB_ONLY, HAS_AETH | HAS_ATOMIC_ACK},
    [0x13] = {1, IB_KIND_OTHER, IB_ONLY, HAS_ATOMIC},
    [0x14] = {1, IB_KIND_OTHER, IB_ONLY, HAS_ATOMIC},
    [0x16] = {1, IB_KIND_SEND, IB_LAST, HAS_INV},
    [0x17] = {1, IB_KIND_SEND, IB_ONLY, HAS_INV},
};

/*
 * Not every operation exists on every transport: UC has SEND and WRITE, UD only the two SEND Only
 * operations.
 */
static bool operation_exists(uint8_t opcode)
{
    unsigned op = opcode & 0x1f;
    switch (opcode >> 5) {
    case IB_RC:
    case IB_XRC:
        return operations[op].known;
    case IB_UC:
        return op <= 0x0b;
    case IB_RD:
        return op <= 0x15;
    case IB_UD:
        return op == 0x04 || op == 0x05;
    case IB_CNP:
        return op == 0x01;
    default:
        return false;
    }
}

static enum wire_result decode_lrh(struct view v, struct ib_packet *ib)
{
    enum wire_result r = view_has(v, 0, LRH_SIZE);
    if (r != WIRE_OK)
        return r;
    ib->lver = v.p[LRH_VL_LVER] & 0xf;
    ib->sl = v.p[LRH_SL_LNH] >> 4;
    ib->lnh = v.p[LRH_SL_LNH] & 3;
    ib->dlid = be16(v.p + LRH_DLID);
    ib->slid = be16(v.p + LRH_SLID);
    ib->length = (be16(v.p + LRH_PKT_LEN) & 0x7ffu) * 4;
    ib->has_lrh = true;
    return WIRE_OK;
}

static enum wire_result decode_grh(struct view v, uint32_t off, struct ib_packet *ib)
{
    enum wire_result r = view_has(v, off, GRH_SIZE);
    if (r != WIRE_OK)
        return r;
    const uint8_t *p = v.p + off;
    ib->grh_off = (uint16_t)off;
    ib->tclass = (uint8_t)(be16(p) >> 4);
    ib->flow_label = be32(p) & 0xfffffu;
    ib->hop_limit = p[GRH_HOP_LMT];
    ib->sgid = p + GRH_SGID;
    ib->dgid = p + GRH_DGID;
    if (!ib->has_lrh) /* RoCE: only the GRH has the length */
        ib->length = GRH_SIZE + (uint32_t)be16(p + GRH_PAY_LEN);
    ib->has_grh = true;
    return p[GRH_NXT_HDR] == GRH_NXT_HDR_BTH ? WIRE_OK : WIRE_FOREIGN;
}

static enum wire_result decode_bth(struct view v, uint32_t off, struct ib_packet *ib)
{
    enum wire_result r = view_has(v, off, BTH_SIZE);
    if (r != WIRE_OK)
        return r;
    const uint8_t *p = v.p + off;
    const struct operation *op = &operations[p[BTH_OPCODE] & 0x1f];
    ib->bth_off = (uint16_t)off;
    ib->opcode = p[BTH_OPCODE];
    ib->pad = p[BTH_SE_M_PAD_TVER] >> 4 & 3;
    ib->tver = p[BTH_SE_M_PAD_TVER] & 0xf;
    ib->pkey = be16(p + BTH_PKEY);
    ib->dqpn = be24(p + BTH_DEST_QP);
    ib->psn = be24(p + BTH_PSN);
    ib->has_bth = true;
    if (!operation_exists(ib->opcode) || ib->tver != 0) {
        ib->transport = IB_TRANSPORT_UNKNOWN;
        return WIRE_FOREIGN;
    }
    ib->transport = (enum ib_transport)(ib->opcode >> 5);
    ib->kind = ib->transport == IB_CNP ? IB_KIND_OTHER : (enum ib_kind)op->kind;
    ib->position = (enum ib_position)op->position;
    ib->immediate = op->headers & (HAS_IMM | HAS_INV);
    return WIRE_OK;
}

static enum wire_result decode_deth(struct view v, uint32_t off, struct ib_packet *ib)
{
    enum wire_result r = view_has(v, off, DETH_SIZE);
    if (r != WIRE_OK)
        return r;
    ib->deth_off = (uint16_t)off;
    ib->qkey = be32(v.p + off + DETH_QKEY);
    ib->sqpn = be24(v.p + off + DETH_SRC_QP);
    ib->has_deth = true;
    return WIRE_OK;
}

/* Bytes of the extended headers after RDETH, DETH and XRCETH. */
static uint32_t extended_size(uint8_t opcode)
{
    uint8_t h = operations[opcode & 0x1f].headers;
    return (h & HAS_RETH ? RETH_SIZE : 0u) + (h & HAS_AETH ? AETH_SIZE : 0u) +
           (h & HAS_IMM ? IMMDT_SIZE : 0u) + (h & HAS_INV ? IETH_SIZE : 0u) +
           (h & HAS_ATOMIC ? ATOMIC_ETH_SIZE : 0u) +
           (h & HAS_ATOMIC_ACK ? ATOMIC_ACK_ETH_SIZE : 0u);
}

/*
 * Set payload: from off to the pad and the ICRC. A frame that is shorter than its own length fields
 * cannot have crossed a link (IBA 7.8 drops it), so it was truncated when it was stored: the rest
 * counts as not captured, not as not sent.
 */
static enum wire_result find_payload(struct view v, uint32_t off, struct ib_packet *ib)
{
    uint32_t end = ib->length ? ib->length : v.len;
    ib->payload_off = off;
    if (end < off + ib->pad + ICRC_SIZE)
        return WIRE_MALFORMED;
    end -= ib->pad + ICRC_SIZE;
    ib->payload = view_sub(v, off, end - off);
    ib->payload.len = end - off;
    return WIRE_OK;
}

static enum wire_result decode_transport(struct view v, uint32_t off, struct ib_packet *ib)
{
    enum wire_result r = decode_bth(v, off, ib);
    if (r != WIRE_OK)
        return r;
    off += BTH_SIZE;
    if (ib->transport == IB_RD)
        off += RDETH_SIZE;
    if (ib->transport == IB_XRC)
        off += XRCETH_SIZE;
    if (ib->transport == IB_RD || ib->transport == IB_UD) {
        r = decode_deth(v, off, ib);
        if (r != WIRE_OK)
            return r;
        off += DETH_SIZE;
    }
    off += ib->transport == IB_CNP ? 16u : extended_size(ib->opcode);
    r = view_has(v, off, 0);
    return r == WIRE_OK ? find_payload(v, off, ib) : r;
}

enum wire_result ib_decode(struct view v, enum ib_start start, struct ib_packet *ib)
{
    enum wire_result r;
    uint32_t off = 0;

    memset(ib, 0, sizeof *ib);
    ib->start = start;
    if (start == IB_START_LRH) {
        r = decode_lrh(v, ib);
        if (r != WIRE_OK)
            return r;
        if (ib->lver != 0 || (ib->lnh != LNH_BTH && ib->lnh != LNH_GRH))
            return WIRE_FOREIGN;
        off = LRH_SIZE;
    }
    if (start == IB_START_GRH || ib->lnh == LNH_GRH) {
        r = decode_grh(v, off, ib);
        if (r != WIRE_OK)
            return r;
        off += GRH_SIZE;
    }
    return decode_transport(v, off, ib);
}

bool ib_plausible(struct view v)
{
    struct ib_packet ib;
    if (view_has(v, 0, LRH_SIZE) != WIRE_OK)
        return false;
    uint32_t length = (be16(v.p + LRH_PKT_LEN) & 0x7ffu) * 4;
    if (v.len != length + VCRC_SIZE && v.len != length && v.len != length - ICRC_SIZE)
        return false;
    enum wire_result r = ib_decode(v, IB_START_LRH, &ib);
    return r == WIRE_OK || r == WIRE_TRUNCATED;
}
