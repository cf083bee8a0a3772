/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of IPoIB MGIDs: their format (RFC 4391 §4), and the IP destination of datagrams to them.
 */
#include "rules/keys.h"
#include "rules/report.h"
#include "wire/encap.h"
#include "wire/ip.h"
#include "wire/mgid.h"

static void check_flags(const struct reporter *r, const struct entity *group, const uint8_t *p)
{
    bool transient = p[0] >> 4 & MGID_FLAG_TRANSIENT;
    expect_about(r, R_RFC4391_4_MGID_T_FLAG, group, transient, p, 1, "T = 1", "T = 0");
    expect_same(r, R_RFC4391_4_MGID_FORMAT, group, p, 1, p[0] & 0x1f, p[0]);
}

/*
 * pkey: of the packet or the record, which a limited member has without the membership bit. The
 * MGIDs of a link have the P_Key of its broadcast-GID (RFC 4391 §10), with that bit (§4.1). For the
 * broadcast-GID itself, another rule requires the bit: check_membership_bit().
 */
static void check_pkey(const struct reporter *r, const struct entity *group, const uint8_t *mgid,
                       const struct mgid *m, uint16_t pkey)
{
    bool passes = m->broadcast && same_partition(m->pkey, pkey);
    expect_same(r, R_RFC4391_4_MGID_PKEY, group, mgid + MGID_PKEY, 2,
                passes ? m->pkey : pkey | PKEY_MEMBERSHIP, m->pkey);
}

static void check_membership_bit(const struct reporter *r, const struct entity *group,
                                 const uint8_t *mgid, const struct mgid *m)
{
    bool full = m->pkey & PKEY_MEMBERSHIP;
    if (m->broadcast)
        expect_same(r, R_RFC4391_4_1_PKEY_FULL_MEMBER, group, mgid + MGID_PKEY, 2,
                    m->pkey | PKEY_MEMBERSHIP, m->pkey);
    else if (!full)
        report_note(r, R_DRAFT02_8_EXAMPLE_PKEY, group, m->pkey, mgid + MGID_PKEY, 2,
                    "P_Key 0x%04x without the membership bit, as in the draft's example", m->pkey);
}

static void check_flags_and_group(const struct reporter *r, const struct entity *group,
                                  const uint8_t *mgid, const struct mgid *m)
{
    check_flags(r, group, mgid + MGID_FLAGS_SCOPE);
    if (m->signature == MGID_SIGNATURE_IPV4)
        expect_about(r, R_RFC4391_4_MGID_GROUP_ID_IPV4, group, m->group_clean, mgid + MGID_GROUP,
                     MGID_SIZE - MGID_GROUP, "0 above the low 28 bits", "other bits are set");
}

/* Without the P_Key of a packet or a record, the MGID's own partition is taken. */
static void check_own_pkey(const struct reporter *r, const struct entity *group,
                           const uint8_t *mgid, const struct mgid *m)
{
    if (!(m->pkey & PKEY_MEMBERSHIP) && !m->broadcast)
        check_pkey(r, group, mgid, m, m->pkey);
}

void check_mgid_form(const struct reporter *r, const uint8_t *mgid)
{
    struct mgid m = mgid_read(mgid);
    struct entity group = entity_group(mgid);
    check_flags_and_group(r, &group, mgid, &m);
    check_membership_bit(r, &group, mgid, &m);
    check_own_pkey(r, &group, mgid, &m);
}

void check_mgid(const struct reporter *r, const uint8_t *mgid, uint16_t pkey)
{
    if (!mgid_is_ipoib(mgid))
        return;
    struct mgid m = mgid_read(mgid);
    struct entity group = entity_group(mgid);
    check_flags_and_group(r, &group, mgid, &m);
    check_membership_bit(r, &group, mgid, &m);
    check_pkey(r, &group, mgid, &m, pkey);
}

/*
 * If the group does not exist, a datagram may go to the all-router group or the broadcast group, so
 * that routers forward it (RFC 4391 §10), unless its destination is link-local.
 */
static bool to_routers(const struct reporter *r, const struct entity *group, const uint8_t *mgid,
                       const struct mgid *m)
{
    if (!m->broadcast && !mgid_is_all_routers(mgid))
        return false;
    report_note(r, R_RFC4391_10_ALL_ROUTER_FALLBACK, group, 0, mgid, MGID_SIZE,
                "a datagram for another group goes to the %s group",
                m->broadcast ? "broadcast" : "all-router");
    return true;
}

enum { IPV4_LINK_LOCAL_GROUPS = 0xe00000 }; /* 224.0.0.0/24 (RFC 5771 §4) */
enum { IPV6_SCOPE_LINK_LOCAL = 2 };         /* RFC 4291 §2.7 */

static bool is_beyond_link(const uint8_t *ipv6)
{
    return (ipv6[1] & 0x0f) > IPV6_SCOPE_LINK_LOCAL;
}

static void check_ipv4_group(const struct reporter *r, const struct entity *group,
                             const uint8_t *mgid, const struct mgid *m, const uint8_t *ip)
{
    if (be32(ip) == 0xffffffffu) {
        expect_about(r, R_RFC4391_4_BROADCAST_MAPPING, group, m->broadcast, mgid, MGID_SIZE,
                     "the broadcast-GID", "another group");
        return;
    }
    if (ip[0] >> 4 != 0xe || !m->group_clean)
        return; /* a directed broadcast; the netmask is unknown */
    bool same = !m->broadcast && ((be32(mgid + MGID_GROUP_IPV4) ^ be32(ip)) & 0x0fffffff) == 0;
    bool link_local = be24(ip) == IPV4_LINK_LOCAL_GROUPS;
    if (!same && !link_local && to_routers(r, group, mgid, m))
        return;
    expect_about(r, R_RFC4391_4_MGID_GROUP_ID_IPV4, group, same, mgid + MGID_GROUP,
                 MGID_SIZE - MGID_GROUP, "the low 28 bits of the IP destination", "another group");
}

static void check_ipv6_group(const struct reporter *r, const struct entity *group,
                             const uint8_t *mgid, const struct mgid *m, const uint8_t *ip)
{
    if (ip[0] != 0xff)
        return;
    bool same = memcmp(mgid + MGID_GROUP, ip + MGID_GROUP, MGID_SIZE - MGID_GROUP) == 0;
    if (!same && is_beyond_link(ip) && to_routers(r, group, mgid, m))
        return;
    expect_about(r, R_RFC4391_4_MGID_GROUP_ID_IPV6, group, same, mgid + MGID_GROUP,
                 MGID_SIZE - MGID_GROUP, "the low 80 bits of the IP destination", "another group");
}

/*
 * An IPv6 datagram to a destination beyond the link may go to the broadcast group, although that is
 * IPv4's: there is no other. If the packet was truncated before the destination, nothing is
 * checked.
 */
static void check_ipv6(const struct reporter *r, const struct entity *group, const uint8_t *mgid,
                       const struct mgid *m, struct view d)
{
    const uint8_t *ip = d.cap >= IPV6_DESTINATION + 16 ? d.p + IPV6_DESTINATION : NULL;
    if (m->broadcast && !ip)
        return;
    if (m->broadcast && ip[0] == 0xff && is_beyond_link(ip)) {
        to_routers(r, group, mgid, m);
        return;
    }
    expect_same(r, R_RFC4391_4_MGID_SIGNATURE_IPV6, group, mgid + MGID_SIGNATURE, 2,
                MGID_SIGNATURE_IPV6, m->signature);
    if (ip && m->signature == MGID_SIGNATURE_IPV6)
        check_ipv6_group(r, group, mgid, m, ip);
}

static bool is_ipv4(uint16_t type)
{
    return type == TYPE_IPV4 || type == TYPE_ARP || type == TYPE_RARP;
}

/* The signature of the group that a datagram of this Type goes to. */
static void check_type_signature(const struct reporter *r, const struct entity *group,
                                 const uint8_t *mgid, uint16_t type)
{
    if (is_ipv4(type) || type == TYPE_IPV6)
        expect_same(
            r, is_ipv4(type) ? R_RFC4391_4_MGID_SIGNATURE_IPV4 : R_RFC4391_4_MGID_SIGNATURE_IPV6,
            group, mgid + MGID_SIGNATURE, 2,
            is_ipv4(type) ? MGID_SIGNATURE_IPV4 : MGID_SIGNATURE_IPV6, be16(mgid + MGID_SIGNATURE));
}

static void check_destination_mgid(const struct reporter *r, const uint8_t *mgid, uint16_t type,
                                   struct view d)
{
    struct mgid m = mgid_read(mgid);
    struct entity group = entity_group(mgid);
    if (is_ipv4(type)) {
        check_type_signature(r, &group, mgid, type);
        if (type == TYPE_IPV4 && m.signature == MGID_SIGNATURE_IPV4 &&
            d.cap >= IPV4_DESTINATION + 4)
            check_ipv4_group(r, &group, mgid, &m, d.p + IPV4_DESTINATION);
    } else if (type == TYPE_IPV6) {
        check_ipv6(r, &group, mgid, &m, d);
    }
    if (type == TYPE_ARP && m.signature == MGID_SIGNATURE_IPV4 && !m.broadcast)
        report_note(r, R_RFC4391_5_BROADCAST_SERVICE, &group, 0, mgid, MGID_SIZE,
                    "ARP goes to a group that is not the broadcast group");
}

void check_datagram_headers(const struct reporter *r, const struct ib_packet *ib,
                            const struct datagram *d)
{
    bool multicast = ib->has_lrh && ib->dlid >= LID_MULTICAST_FIRST && ib->dlid != LID_PERMISSIVE;

    if (multicast)
        expect_that(r, R_RFC4391_6_GRH_ON_MULTICAST, ib->has_grh, r->base, LRH_SIZE, "a GRH",
                    "none");
    if (!ib->dgid || !mgid_is_ipoib(ib->dgid))
        return;
    check_mgid(r, ib->dgid, ib->pkey);
    if (d->header == WIRE_OK && encapsulation_fits(d))
        check_destination_mgid(r, ib->dgid, d->encap.type, d->body);
}

/* Every datagram of an IPoIB interface is IPoIB, whatever signature the group has. */
static void check_bare_signature(const struct reporter *r, const uint8_t *dgid,
                                 const struct datagram *d)
{
    struct entity group = entity_group(dgid);
    if (d->header == WIRE_OK)
        check_type_signature(r, &group, dgid, d->encap.type);
}

/* An address without scope and P_Key is not that of the packet (wire/link_frame.h). */
static void check_pseudo_header_form(const struct reporter *r, const uint8_t *mgid, bool of_grh)
{
    struct mgid m = mgid_read(mgid);
    struct entity group = entity_group(mgid);
    check_flags_and_group(r, &group, mgid, &m);
    if (of_grh || m.scope || m.pkey) {
        check_membership_bit(r, &group, mgid, &m);
        check_own_pkey(r, &group, mgid, &m);
    } else if (m.broadcast) {
        report_inconclusive(r, R_RFC4391_4_1_PKEY_FULL_MEMBER, mgid + MGID_PKEY,
                            "the interface shows the address without scope and P_Key");
    }
}

void check_pseudo_header_group(const struct reporter *r, const uint8_t *dgid, bool of_grh,
                               const struct datagram *d)
{
    if (dgid[MGID_PREFIX] != 0xff)
        return;
    if (!mgid_is_ipoib(dgid)) {
        check_bare_signature(r, dgid, d);
        return;
    }
    check_pseudo_header_form(r, dgid, of_grh);
    report_inconclusive(r, R_RFC4391_4_MGID_PKEY, dgid + MGID_PKEY, "no InfiniBand headers");
    if (d->header == WIRE_OK && encapsulation_fits(d))
        check_destination_mgid(r, dgid, d->encap.type, d->body);
}
