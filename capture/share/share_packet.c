/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises InfiniBand packets. See share_packet.h. */
#include "capture/share/share_packet.h"

#include "capture/share/share_layout.h"
#include "wire/icrc.h"
#include "wire/vcrc.h"

/* ---- headers: reserved bits, and memory addresses and keys after the BTH and DETH, stay zero */

/* VL, LVer, SL; LNH, DLID; packet length, SLID (IBA 7.7) */
static const struct field lrh_layout[] = {KEEP(12), ZERO(2),  KEEP(18),
                                          ZERO(5),  KEEP(27), LAYOUT_END};
const struct field grh_layout[] = {KEEP(64), MAP_GID, MAP_GID, LAYOUT_END};
/* up to BECN; destination QP, AckReq; PSN (IBA 9.2) */
static const struct field bth_layout[] = {KEEP(34), ZERO(6),  KEEP(25),
                                          ZERO(7),  KEEP(24), LAYOUT_END};
static const struct field deth_layout[] = {KEEP(32), ZERO(8), KEEP(24), LAYOUT_END};

/* The AETH of acknowledgements and read responses, opcodes 0x0d to 0x12 (IBA table 38) */
static void share_aeth(struct part p, const struct ib_packet *ib)
{
    enum { READ_FIRST = 0x0d, READ_MIDDLE = 0x0e, ATOMIC_ACK = 0x12 };
    uint8_t operation = ib->opcode & 0x1f;
    uint32_t after = operation == ATOMIC_ACK ? ATOMIC_ACK_ETH_SIZE : 0;

    if (ib->transport != IB_CNP && operation >= READ_FIRST && operation <= ATOMIC_ACK &&
        operation != READ_MIDDLE)
        part_keep(p, ib->payload_off - after - AETH_SIZE, AETH_SIZE);
}

void share_headers(struct part p, const struct ib_packet *ib)
{
    if (ib->has_lrh)
        share_layout(p, lrh_layout);
    if (ib->has_grh)
        share_layout(part_from(p, ib->grh_off), grh_layout);
    if (ib->has_bth)
        share_layout(part_from(p, ib->bth_off), bth_layout);
    if (ib->has_deth)
        share_layout(part_from(p, ib->deth_off), deth_layout);
    if (ib->payload_off)
        share_aeth(p, ib);
}

/* ---- CRCs */

/* A wrong CRC is not 0, because 0 counts as "no CRC". */
static uint32_t new_crc(uint32_t right, bool stays_wrong)
{
    enum { SPOIL = 0x5a5a };

    return !stays_wrong ? right : right == SPOIL ? SPOIL + 1 : right ^ SPOIL;
}

/*
 * The right VCRC of the new packet. If it is 0, which would count as "no VCRC", sets a reserved bit
 * that the ICRC does not cover: of the BTH, or of the LRH if there is no BTH, and so no ICRC (IBA
 * 7.8.1). One changed bit always changes a CRC.
 */
static uint16_t right_vcrc(struct part p, uint32_t len, const struct ib_packet *ib)
{
    enum { RESERVED = 0x04 };
    struct view now = view_make(p.to, p.cap, len);
    uint16_t crc = vcrc_of(now, ib);

    if (crc != 0)
        return crc;
    p.to[ib->has_bth ? ib->bth_off + BTH_FECN_BECN : LRH_SL_LNH] |= RESERVED;
    return vcrc_of(now, ib);
}

void share_crcs(struct part p, uint32_t len, const struct ib_packet *ib)
{
    struct view before = view_make(p.from, p.cap, len), now = view_make(p.to, p.cap, len);
    enum icrc icrc = icrc_check(before, ib);
    enum vcrc vcrc = vcrc_check(before, ib);

    if (icrc != ICRC_NOT_THERE) {
        uint32_t crc = new_crc(icrc_of(now, ib), icrc == ICRC_WRONG);
        for (int i = 0; i < ICRC_SIZE; i++)
            p.to[ib->length - ICRC_SIZE + i] = (uint8_t)(crc >> 8 * i);
    }
    if (vcrc != VCRC_NOT_THERE) {
        uint16_t crc = (uint16_t)new_crc(right_vcrc(p, len, ib), vcrc == VCRC_WRONG);
        p.to[ib->length] = (uint8_t)crc;
        p.to[ib->length + 1] = (uint8_t)(crc >> 8);
    }
}
