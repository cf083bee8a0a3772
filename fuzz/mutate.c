/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz/mutate.h"

#include <string.h>

#include "fuzz/frames.h"
#include "fuzz/linktypes.h"
#include "wire/encap.h"
#include "wire/erf.h"
#include "wire/icrc.h"
#include "wire/ip.h"
#include "wire/link_frame.h"
#include "wire/put.h"
#include "wire/vcrc.h"

enum { IPV4_CHECKSUM = 10, UDP_LENGTH = 4, UDP_SIZE = 8, UINT16_MOST = 0xffff };

/* ---- IP */

static void repair_ipv4(uint8_t *ip, size_t n)
{
    size_t header = (size_t)(ip[0] & 0x0f) * 4;
    uint32_t sum = 0;
    if (header < IPV4_SIZE || header > n)
        return;
    put16(ip + IPV4_TOTAL_LENGTH, n);
    put16(ip + IPV4_CHECKSUM, 0);
    for (size_t i = 0; i < header; i += 2)
        sum += be16(ip + i);
    while (sum > UINT16_MOST)
        sum = (sum & UINT16_MOST) + (sum >> 16);
    put16(ip + IPV4_CHECKSUM, ~sum);
}

/* n: bytes of the datagram. */
static void repair_ip(uint8_t *ip, size_t n)
{
    if (n > UINT16_MOST)
        return;
    if (n >= IPV4_SIZE && ip[0] >> 4 == 4)
        repair_ipv4(ip, n);
    else if (n >= IPV6_SIZE && ip[0] >> 4 == 6)
        put16(ip + IPV6_PAYLOAD_LENGTH, n - IPV6_SIZE);
}

/* After an encapsulation header. */
static void repair_datagram(uint8_t *payload, size_t n)
{
    uint16_t type = n >= ENCAP_SIZE ? be16(payload + ENCAP_TYPE) : 0;
    if (type == TYPE_IPV4 || type == TYPE_IPV6)
        repair_ip(payload + ENCAP_SIZE, n - ENCAP_SIZE);
}

/* ---- InfiniBand */

static void repair_headers(uint8_t *p, size_t n, enum ib_start start)
{
    size_t end = n > VCRC_SIZE ? n - VCRC_SIZE : 0, grh = start == IB_START_LRH ? LRH_SIZE : 0;
    if (start == IB_START_LRH && end >= LRH_SIZE) {
        p[LRH_PKT_LEN] = (uint8_t)((p[LRH_PKT_LEN] & 0xf8) | (end / 4 >> 8 & 7));
        p[LRH_PKT_LEN + 1] = (uint8_t)(end / 4);
    }
    bool has_grh = start == IB_START_GRH ||
                   (start == IB_START_LRH && n > LRH_SL_LNH && (p[LRH_SL_LNH] & 3) == LNH_GRH);
    end = start == IB_START_GRH ? n : end;
    if (has_grh && end >= grh + GRH_SIZE)
        put16(p + grh + GRH_PAY_LEN, end - grh - GRH_SIZE);
}

static void repair_crcs(uint8_t *p, struct view v, const struct ib_packet *ib)
{
    if (!ib->has_lrh || !ib->has_bth || ib->length < (uint32_t)ib->bth_off + BTH_SIZE + ICRC_SIZE ||
        view_has(v, 0, ib->length) != WIRE_OK)
        return;
    uint32_t icrc = icrc_of(v, ib);
    for (unsigned i = 0; i < ICRC_SIZE; i++) /* little-endian, as the VCRC */
        p[ib->length - ICRC_SIZE + i] = (uint8_t)(icrc >> 8 * i);
    if (view_has(v, ib->length, VCRC_SIZE) != WIRE_OK)
        return;
    uint16_t vcrc = vcrc_of(v, ib);
    p[ib->length] = (uint8_t)vcrc;
    p[ib->length + 1] = (uint8_t)(vcrc >> 8);
}

static void repair_packet(uint8_t *p, size_t n, enum ib_start start, unsigned what)
{
    struct view v = view_make(p, (uint32_t)n, (uint32_t)n);
    struct ib_packet ib;
    if (what & REPAIR_HEADERS)
        repair_headers(p, n, start);
    if (ib_decode(v, start, &ib) != WIRE_OK)
        return;
    if (what & REPAIR_IP && ib.payload.p && ib.position == IB_ONLY)
        repair_datagram(p + (ib.payload.p - p), ib.payload.cap);
    if (what & REPAIR_CRCS)
        repair_crcs(p, v, &ib);
}

/* ---- before the InfiniBand headers */

static void repair_erf(uint8_t *frame, size_t n)
{
    if (n < ERF_HEADER_LEN || n > UINT16_MOST)
        return;
    put16(frame + ERF_OFF_RLEN, n);
    put16(frame + ERF_OFF_WLEN, n - ERF_HEADER_LEN);
}

/* RoCE v2: inner is the BTH, after IP and UDP. */
static void repair_roce(uint8_t *frame, size_t n, const struct link_frame *c)
{
    size_t source = c->outer.length == IPV4_ADDRESS_SIZE ? IPV4_SOURCE : IPV6_SOURCE,
           ip = (size_t)(c->outer.src - frame) - source, bth = (size_t)(c->inner.p - frame);
    if (bth < ip + UDP_SIZE || bth > n || n - ip > UINT16_MOST)
        return; /* the BTH was not captured */
    put16(frame + bth - UDP_SIZE + UDP_LENGTH, n - (bth - UDP_SIZE));
    repair_ip(frame + ip, n - ip);
}

void mutate_repair(int linktype, uint8_t *frame, size_t n, unsigned what)
{
    struct view v = view_make(frame, (uint32_t)n, (uint32_t)n);
    struct link_frame c;
    if (what & REPAIR_OUTER && linktype == LINKTYPE_ERF)
        repair_erf(frame, n);
    if (link_frame_locate(linktype, v, &c) != WIRE_OK || !c.inner.p)
        return;
    if (what & REPAIR_OUTER && c.kind == LINK_FRAME_IB && c.outer.length) {
        repair_roce(frame, n, &c);
        link_frame_locate(linktype, v, &c);
    }
    uint8_t *inner = frame + (c.inner.p - frame);
    if (c.kind == LINK_FRAME_IB)
        repair_packet(inner, c.inner.cap, c.start, what);
    else if (c.kind == LINK_FRAME_IPOIB && what & REPAIR_IP)
        repair_datagram(inner, c.inner.cap);
    else if (c.kind == LINK_FRAME_COOKED && what & REPAIR_IP)
        repair_ip(inner, c.inner.cap);
}

/* ---- inputs */

/* A seed's bits: each repair is done three times of four. */
static unsigned chosen_repairs(unsigned seed)
{
    return (seed | seed >> 4) & REPAIR_ALL;
}

size_t mutate_frame(uint8_t *data, size_t size, size_t most, unsigned seed, size_t head)
{
    size = LLVMFuzzerMutate(data, size, most);
    if (size > head)
        mutate_repair(linktype_of(data[0]), data + head, size - head, chosen_repairs(seed));
    return size;
}

/* Writes the frames with their bytes corrected; a truncated frame stays as it is. */
static void repair_all(uint8_t *data, size_t size, unsigned what)
{
    const uint8_t *p = data;
    struct fuzz_frame f;
    while (fuzz_next_frame(&p, &size, &f))
        if (f.length == f.captured)
            mutate_repair(linktype_of(f.linktype), data + (f.bytes - data), f.captured, what);
}

/* Lets libFuzzer change the bytes of one frame; the others, and the frames' headers, stay. */
static size_t change_frame(uint8_t *data, size_t size, size_t most, unsigned number)
{
    const uint8_t *p = data;
    struct fuzz_frame f;
    size_t left = size;
    while (fuzz_next_frame(&p, &left, &f) && number-- > 0)
        ;
    uint8_t *bytes = data + (p - data) - f.captured;
    size_t room = most - (size - f.captured);
    if (room == 0) /* libFuzzer would write a byte nevertheless */
        return size;
    memmove(bytes + room, bytes + f.captured, left); /* the rest, at the end of the room */
    size_t n = LLVMFuzzerMutate(bytes, f.captured, room < UINT16_MOST ? room : UINT16_MOST);
    memmove(bytes + n, bytes + room, left);
    put16(bytes - 4, n);
    return size - f.captured + n;
}

size_t mutate_capture(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    const uint8_t *p = data;
    struct fuzz_frame f;
    size_t left = size;
    unsigned frames = 0;
    while (fuzz_next_frame(&p, &left, &f))
        frames++;
    bool whole = frames == 0 || left > 0 || seed % 2 == 0; /* also headers, order and number */
    if (whole)
        size = LLVMFuzzerMutate(data, size, most);
    else
        size = change_frame(data, size, most, (seed >> 8) % frames);
    repair_all(data, size, chosen_repairs(seed >> 1));
    return size;
}
