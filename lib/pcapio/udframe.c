/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds frames from the data of a queue pair. See udframe.h. */
#include "pcapio/udframe.h"

#include <string.h>

#include "wire/put.h"

enum { UD_SEND_ONLY = 0x64 }; /* IBA table 38 */

/* WORDS: 4-byte words from the LRH to the ICRC (IBA 7.7.8). */
static uint32_t put_lrh(uint8_t *p, const struct ud_heads *h, uint32_t words)
{
    p[LRH_VL_LVER] = 0;
    p[LRH_SL_LNH] = (uint8_t)(h->sl << 4 | (h->grh ? LNH_GRH : LNH_BTH));
    put16(p + LRH_DLID, h->dlid);
    put16(p + LRH_PKT_LEN, words);
    put16(p + LRH_SLID, h->slid);
    return LRH_SIZE;
}

static uint32_t transport_size(const struct ud_heads *h)
{
    return h->connected ? BTH_SIZE : BTH_SIZE + DETH_SIZE;
}

static uint32_t put_transport(uint8_t *p, const struct ud_heads *h, uint32_t pad)
{
    memset(p, 0, transport_size(h));
    p[BTH_OPCODE] = h->connected ? h->opcode : UD_SEND_ONLY;
    p[BTH_SE_M_PAD_TVER] = (uint8_t)(pad << 4);
    put16(p + BTH_PKEY, h->pkey);
    put24(p + BTH_DEST_QP, h->dqpn);
    put24(p + BTH_PSN, h->psn & PSN_MASK);
    if (h->connected)
        return BTH_SIZE;
    put32(p + BTH_SIZE + DETH_QKEY, h->qkey);
    put24(p + BTH_SIZE + DETH_SRC_QP, h->sqpn);
    return BTH_SIZE + DETH_SIZE;
}

/* Bytes from the BTH to the ICRC; the payload is padded to a multiple of 4 (IBA 9.2.3). */
static uint32_t transport_length(uint32_t headers, uint32_t n)
{
    return headers + n + (-n & 3) + ICRC_SIZE;
}

uint16_t udframe_grh_length(uint32_t n)
{
    return (uint16_t)transport_length(BTH_SIZE + DETH_SIZE, n);
}

uint32_t udframe_put(uint8_t *out, const struct ud_heads *h, const uint8_t *payload, uint32_t n)
{
    uint32_t pad = -n & 3, grh = h->grh ? GRH_SIZE : 0;
    uint8_t *p = out;

    p += put_lrh(p, h, (LRH_SIZE + grh + transport_length(transport_size(h), n)) / 4);
    if (h->grh)
        memcpy(p, h->grh, GRH_SIZE);
    p += grh;
    p += put_transport(p, h, pad);
    if (n) /* payload may be NULL if empty */
        memcpy(p, payload, n);
    memset(p + n, 0, pad + ICRC_SIZE + VCRC_SIZE);
    p += n + pad + ICRC_SIZE + VCRC_SIZE;
    return (uint32_t)(p - out);
}
