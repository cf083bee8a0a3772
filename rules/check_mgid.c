/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/report.h"
#include "wire/encap.h"
#include "wire/mgid.h"

enum { IPV4_DESTINATION = 16, IPV6_DESTINATION = 24 };
enum { PKEY_MEMBERSHIP = 0x8000 }; /* full or limited: the partition is in the other 15 bits (IBA 10.9.1.1) */

void check_mgid(const struct reporter *r, const uint8_t *mgid, uint16_t pkey)
{
    if (!mgid_is_ipoib(mgid))
        return;
    struct mgid m = mgid_read(mgid);
    bool same = ((m.pkey ^ pkey) & ~PKEY_MEMBERSHIP & 0xffff) == 0;

    expect_that(r, R_RFC4391_4_MGID_T_FLAG, m.flags & MGID_FLAG_TRANSIENT, mgid + MGID_FLAGS_SCOPE, 1, "T = 1",
                m.flags & MGID_FLAG_TRANSIENT ? "T = 1" : "T = 0");
    expect_bits(r, R_RFC4391_4_MGID_FORMAT, mgid + MGID_FLAGS_SCOPE, 0xe0, 0);
    if (same)
        expect_value(r, R_RFC4391_4_MGID_PKEY, mgid + MGID_PKEY, 2, m.pkey);
    else
        expect_value(r, R_RFC4391_4_MGID_PKEY, mgid + MGID_PKEY, 2, pkey | PKEY_MEMBERSHIP);
    if (m.signature == MGID_SIGNATURE_IPV4)
        expect_that(r, R_RFC4391_4_MGID_GROUP_ID_IPV4, m.group_clean, mgid + MGID_GROUP, MGID_SIZE - MGID_GROUP,
                    "0 above the low 28 bits", m.group_clean ? "0" : "other bits are set");
}

/* Does the group of the MGID carry this IP destination? */
static void check_ipv4_group(const struct reporter *r, const uint8_t *mgid, const struct mgid *m, const uint8_t *ip)
{
    static const uint8_t broadcast[4] = {255, 255, 255, 255};
    if (memcmp(ip, broadcast, 4) == 0)
        expect_that(r, R_RFC4391_4_BROADCAST_MAPPING, m->broadcast, mgid, MGID_SIZE, "the broadcast-GID",
                    m->broadcast ? "the broadcast-GID" : "another group");
}

static void check_signature(const struct reporter *r, const uint8_t *mgid, uint16_t type)
{
    if (type == TYPE_IPV4 || type == TYPE_ARP)
        expect_value(r, R_RFC4391_4_MGID_SIGNATURE_IPV4, mgid + MGID_SIGNATURE, 2, MGID_SIGNATURE_IPV4);
    else if (type == TYPE_IPV6)
        expect_value(r, R_RFC4391_4_MGID_SIGNATURE_IPV6, mgid + MGID_SIGNATURE, 2, MGID_SIGNATURE_IPV6);
}

void check_datagram_headers(const struct reporter *r, const struct ib_packet *ib)
{
    struct view d = view_from(ib->payload, ENCAP_SIZE);
    struct encap e;
    bool multicast = ib->has_lrh && ib->dlid >= LID_MULTICAST_FIRST && ib->dlid != LID_PERMISSIVE;

    if (multicast)
        expect_that(r, R_RFC4391_6_GRH_ON_MULTICAST, ib->has_grh, r->base, LRH_SIZE, "a GRH", ib->has_grh ? "a GRH" : "none");
    if (!ib->dgid || !mgid_is_ipoib(ib->dgid))
        return;
    check_mgid(r, ib->dgid, ib->pkey);
    if (encap_decode(ib->payload, &e) != WIRE_OK)
        return;
    check_signature(r, ib->dgid, e.type);
    struct mgid m = mgid_read(ib->dgid);
    if (e.type == TYPE_IPV4 && d.cap >= IPV4_DESTINATION + 4)
        check_ipv4_group(r, ib->dgid, &m, d.p + IPV4_DESTINATION);
}
