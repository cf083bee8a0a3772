/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame from its LRH to its VCRC, made of what a queue pair tells of it: the payload, the GRH,
 * and a completion. What nobody tells is 0: VL, BTH's SE, M and A bits, and both CRCs. A
 * datagram's, or a packet's of a connection.
 */
#ifndef IPOIB_PCAPIO_UDFRAME_H
#define IPOIB_PCAPIO_UDFRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/ib.h"

/* Octets that a frame has at most besides its payload: the headers, padding and CRCs. */
enum { UDFRAME_MORE = LRH_SIZE + GRH_SIZE + BTH_SIZE + DETH_SIZE + 3 + ICRC_SIZE + VCRC_SIZE };

struct ud_heads {
    uint16_t slid, dlid, pkey;
    uint8_t sl;
    uint32_t dqpn, sqpn, qkey;
    uint32_t psn;       /* 24 bits */
    const uint8_t *grh; /* GRH_SIZE octets; NULL: there is none */
    bool connected;     /* without a DETH */
    uint8_t opcode;     /* connected: BTH's; else it is UD's Send only */
};

/* The GRH's payload length for a datagram of N octets (IBA 8.3.3: up to the VCRC). */
uint16_t udframe_grh_length(uint32_t n);

/* Writes the frame to OUT, which has room for N + UDFRAME_MORE octets. Returns its length. */
uint32_t udframe_put(uint8_t *out, const struct ud_heads *heads, const uint8_t *payload,
                     uint32_t n);

#endif
