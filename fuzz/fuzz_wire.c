/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the decoder of lib/wire. Input: byte 0 selects the link type; the rest is a frame.
 *
 * Beyond "no crash", it checks: if a frame decodes without error, no truncation of it is called
 * malformed, and the header fields that can still be decoded have the same values.
 */
#include <stddef.h>
#include <stdlib.h>

#include "fuzz/linktypes.h"
#include "fuzz/must.h"
#include "fuzz/mutate.h"
#include "wire/arp.h"
#include "wire/link_frame.h"
#include "wire/cm.h"
#include "wire/dhcp.h"
#include "wire/encap.h"
#include "wire/lladdr.h"
#include "wire/mgid.h"
#include "wire/nd.h"
#include "wire/sa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sink; /* uses the values read, so that the compiler keeps the reads */

static void use(const uint8_t *p, size_t n)
{
    while (n--)
        sink += *p++;
}

static void walk_mad(struct view v)
{
    struct sa sa;
    struct cm cm;
    struct cm_private private;
    bool have;
    if (sa_decode(v, &sa, &have) == WIRE_OK) {
        if (sa.data.cap >= MCM_SIZE)
            sink += mc_member_read(sa.data.p).qkey;
        use(sa.data.p, sa.data.cap);
    }
    if (cm_decode(v, &cm, &have) == WIRE_OK) {
        if (cm_private_decode(v, &cm, &private) == WIRE_OK)
            sink += private.recv_mtu;
        sink += cm_private_is_srp(v, &cm);
    }
}

static void walk_datagram(struct view v)
{
    struct arp arp;
    struct nd_iter it;
    struct nd_option o;
    bool fixed;
    arp_decode(v, &arp, &fixed);
    if (nd_options(v, &it))
        while (nd_next(&it, &o))
            if (nd_is_ipoib_lladdr(&o) &&
                view_has(v, o.off + ND_OPT_LLADDR, LLADDR_SIZE) == WIRE_OK)
                sink += lladdr_read(v.p + o.off + ND_OPT_LLADDR).qpn;
}

static void walk_dhcp(struct view v)
{
    struct view message;
    struct dhcp d, cut;
    if (!dhcp_in_ipv4(v, &message) || dhcp_decode(message, &d) != WIRE_OK)
        return;
    sink += d.message_type;
    must(d.client_id == 0 || d.client_id <= message.len);
    for (uint32_t cap = 0; cap < message.cap && message.cap <= 600; cap++) {
        enum wire_result r = dhcp_decode(view_make(message.p, cap, message.len), &cut);
        must(r == WIRE_OK || r == WIRE_TRUNCATED);
        must(r != WIRE_OK || (cut.hlen == d.hlen && cut.options != WIRE_MALFORMED) ||
             d.options == WIRE_MALFORMED);
    }
}

static void walk_payload(struct view v)
{
    struct encap e;
    encap_decode(v, &e);
    sink += encap_agrees(v) + encap_begins_message(v, true) + encap_datagram_length(v);
    walk_mad(v);
    walk_datagram(view_from(v, ENCAP_SIZE));
    walk_dhcp(view_from(v, ENCAP_SIZE));
    use(v.p, v.cap);
}

static enum wire_result walk(struct view v, enum ib_start start, struct ib_packet *ib)
{
    enum wire_result r = ib_decode(v, start, ib);
    if (ib->has_grh && mgid_is_ipoib(ib->dgid))
        sink += mgid_read(ib->dgid).pkey;
    if (r == WIRE_OK) {
        must(ib->payload.cap <= ib->payload.len);
        must(ib->payload.cap == 0 || ib->payload.p + ib->payload.cap <= v.p + v.cap);
        walk_payload(ib->payload);
    }
    return r;
}

static void cut_everywhere(struct view v, enum ib_start start, const struct ib_packet *whole)
{
    for (uint32_t cap = 0; cap < v.cap; cap++) {
        struct ib_packet ib;
        enum wire_result r = ib_decode(view_make(v.p, cap, v.len), start, &ib);
        must(r == WIRE_OK || r == WIRE_TRUNCATED);
        must(!ib.has_bth ||
             (ib.opcode == whole->opcode && ib.dqpn == whole->dqpn && ib.pkey == whole->pkey));
        must(!ib.has_deth || (ib.qkey == whole->qkey && ib.sqpn == whole->sqpn));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct link_frame c;
    struct ib_packet ib;
    if (size < 1 || size > 1 << 16)
        return 0;
    struct view v = view_make(data + 1, (uint32_t)size - 1, (uint32_t)size - 1);
    int linktype = linktype_of(data[0]);
    if (link_frame_locate(linktype, v, &c) != WIRE_OK)
        return 0;
    if (linktype == LINKTYPE_IPOIB)
        sink += dlt_ipoib_has_grh(v);
    sink += ib_plausible(v);
    if (c.kind == LINK_FRAME_IB) {
        if (walk(c.inner, c.start, &ib) == WIRE_OK && c.inner.cap <= 512)
            cut_everywhere(c.inner, c.start, &ib);
    } else if (c.kind != LINK_FRAME_NONE) {
        walk_payload(c.inner);
    }
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return mutate_frame(data, size, most, seed, 1);
}
