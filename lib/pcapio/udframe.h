/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds a frame, LRH to VCRC, from the data that a queue pair provides: payload, GRH, and
 * completion. The frame is a datagram or a packet of a connection. Unknown fields are 0: VL, the
 * SE, M and A bits of the BTH, and both CRCs.
 */
#ifndef IPOIB_PCAPIO_UDFRAME_H
#define IPOIB_PCAPIO_UDFRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/ib.h"

/* Maximum bytes of a frame besides its payload: headers, padding and CRCs. */
enum { UDFRAME_MORE = LRH_SIZE + GRH_SIZE + BTH_SIZE + DETH_SIZE + 3 + ICRC_SIZE + VCRC_SIZE };

struct ud_heads {
    uint16_t slid, dlid, pkey;
    uint8_t sl;
    uint32_t dqpn, sqpn, qkey;
    uint32_t psn;       /* 24 bits */
    const uint8_t *grh; /* GRH_SIZE bytes; NULL: no GRH */
    bool connected;     /* connected mode: no DETH */
    uint8_t opcode;     /* opcode of the BTH if connected; otherwise it is UD Send Only */
};

/* Payload length in the GRH for a datagram of N bytes (IBA 8.3.3: up to the VCRC). */
uint16_t udframe_grh_length(uint32_t n);

/* Writes the frame to OUT, which needs N + UDFRAME_MORE bytes. Returns its length in bytes. */
uint32_t udframe_put(uint8_t *out, const struct ud_heads *heads, const uint8_t *payload,
                     uint32_t n);

#endif
