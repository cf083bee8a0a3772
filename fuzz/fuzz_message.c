/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes each decoder of messages (after the encapsulation header, or in a MAD) alone.
 *
 * Input: byte 0 selects the decoder, bytes 1 and 2 give the number of truncated bytes; the rest is
 * the message.
 *
 * Beyond "no crash", it checks: if a message decodes without error, no truncation of it is called
 * malformed; everything that was decoded is inside the captured bytes.
 */
#include <stdlib.h>

#include "fuzz/must.h"
#include "wire/arp.h"
#include "wire/cm.h"
#include "wire/encap.h"
#include "wire/lladdr.h"
#include "wire/membership.h"
#include "wire/nd.h"
#include "wire/sa.h"
#include "wire/smp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sink; /* uses the values read, so that the compiler keeps the reads */

static void use(struct view part, struct view of)
{
    must(part.cap <= part.len &&
         (part.cap == 0 || (part.p >= of.p && part.p + part.cap <= of.p + of.cap)));
    for (uint32_t i = 0; i < part.cap; i++)
        sink += part.p[i];
}

/* ---- the decoders */

static enum wire_result walk_sa(struct view v)
{
    struct sa sa;
    bool have_mad;
    enum wire_result r = sa_decode(v, &sa, &have_mad);
    if (r != WIRE_OK)
        return r;
    use(sa.data, v);
    for (uint32_t at = 0; sa.data.cap >= MCM_SIZE && at <= sa.data.cap - MCM_SIZE; at += MCM_SIZE)
        sink += mc_member_read(sa.data.p + at).qkey;
    return r;
}

static enum wire_result walk_cm(struct view v)
{
    struct cm cm;
    struct cm_private private;
    bool have_ids;
    enum wire_result r = cm_decode(v, &cm, &have_ids);
    if (r != WIRE_OK)
        return r;
    if (cm.local_gid)
        sink += cm.local_gid[15] + cm.remote_gid[15];
    if (cm_private_decode(v, &cm, &private) == WIRE_OK)
        sink += private.recv_mtu;
    sink += cm_private_is_srp(v, &cm);
    return r;
}

static enum wire_result walk_smp(struct view v)
{
    struct smp s;
    struct node_info node;
    struct port_info port;
    struct pkey_table keys;
    struct sm_info sm;
    enum wire_result r = smp_decode(v, &s);
    if (r != WIRE_OK)
        return r;
    sink += smp_says(&s) + smp_node_info(&s, &node) + smp_port_info(&s, &port) +
            smp_pkey_table(&s, &keys) + smp_sm_info(&s, &sm);
    return r;
}

static enum wire_result walk_arp(struct view v)
{
    struct arp a;
    bool have_fixed;
    enum wire_result r = arp_decode(v, &a, &have_fixed);
    if (r == WIRE_OK && a.hln == LLADDR_SIZE)
        sink += lladdr_read(v.p + a.sha).qpn + lladdr_read(v.p + a.tha).qpn;
    return r;
}

static enum wire_result walk_nd(struct view v)
{
    struct view icmpv6;
    struct nd_iter it;
    struct nd_option o;
    if (!nd_in_ipv6(v, &icmpv6))
        icmpv6 = v;
    if (!nd_options(icmpv6, &it))
        return WIRE_FOREIGN;
    while (nd_next(&it, &o))
        if (nd_is_ipoib_lladdr(&o) &&
            view_has(icmpv6, o.off + ND_OPT_LLADDR, LLADDR_SIZE) == WIRE_OK)
            sink += lladdr_read(icmpv6.p + o.off + ND_OPT_LLADDR).qpn;
    return it.end;
}

static enum wire_result walk_membership(struct view v)
{
    struct membership_iter it;
    struct membership m;
    if (!membership_begin(v, &it))
        return WIRE_FOREIGN;
    while (membership_next(&it, &m))
        sink += m.group[0];
    return it.end;
}

static enum wire_result walk_encap(struct view v)
{
    struct encap e;
    sink += encap_agrees(v) + encap_begins_message(v, true) + encap_datagram_length(v);
    return encap_decode(v, &e);
}

typedef enum wire_result walker(struct view v);

/* ---- the checks */

/*
 * Decodes the first cap bytes. They are on the heap with exactly that size, so that
 * AddressSanitizer detects an overread by one byte.
 */
static enum wire_result walk_first(walker *walk, const uint8_t *bytes, uint32_t cap, uint32_t len)
{
    uint8_t *exact = malloc(cap ? cap : 1);
    must(exact != NULL);
    memcpy(exact, bytes, cap);
    enum wire_result r = walk(view_make(exact, cap, len));
    free(exact);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static walker *const walkers[] = {walk_sa, walk_cm,         walk_smp,  walk_arp,
                                      walk_nd, walk_membership, walk_encap};
    enum { HEAD = 3, LARGEST = 600 };
    if (size < HEAD || size > LARGEST)
        return 0;
    walker *walk = walkers[data[0] % (sizeof walkers / sizeof *walkers)];
    uint32_t cap = (uint32_t)size - HEAD, len = cap + (uint32_t)(data[1] << 8 | data[2]);
    enum wire_result whole = walk_first(walk, data + HEAD, cap, len);
    must(len > cap || whole != WIRE_TRUNCATED);
    for (uint32_t shorter = 0; whole == WIRE_OK && shorter < cap; shorter++)
        must(walk_first(walk, data + HEAD, shorter, len) != WIRE_MALFORMED);
    return 0;
}
