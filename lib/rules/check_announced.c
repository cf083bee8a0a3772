/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address resolution on the scene: whose link-layer address is announced, from which port and QP,
 * with which IPv6 interface identifier, and to whom the answer goes (RFC 4391 §8, 9.1.1; RFC 4755
 * §2.2, 3, 3.1).
 */
#include "model/address.h"
#include "rules/scene.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/ip.h"
#include "wire/mgid.h"
#include "wire/nd.h"

enum { LLADDR_FLAGS_CONNECTED = LLADDR_FLAG_RC | LLADDR_FLAG_UC };
/*
 * An answer comes within the time in which the question is repeated: thrice, with a second between
 * (RFC 4861 §10).
 */
enum { ANSWER_SECONDS = 5 };
enum { U_BIT = 0x02 };               /* of the first byte of an EUI-64 (RFC 4291 appendix A) */
enum { EUI_SIZE = 8, OUI_SIZE = 3 }; /* the OUI names the vendor */

static uint32_t link_of(const struct scene *s)
{
    return link_key(s->p->at.interface, s->p->ib.pkey);
}

/* ---- the GID: is it the sender's? */

static void check_gid(const struct scene *s, const uint8_t *p, enum whose whose)
{
    struct subject address = subject_address(p);
    switch (whose) {
    case WHOSE_OWN:
        pass_about(s->r, R_RFC4391_9_1_1_GID_OF_PORT, &address);
        pass_about(s->r, R_RFC4391_9_1_1_GID_FROM_PORT_GUID, &address);
        break;
    case WHOSE_OWN_GUID: /* with another prefix: the default one is a port's too (IBA 4.1.1) */
        inconclusive(s->r, R_RFC4391_9_1_1_GID_OF_PORT, p, "the port's other GIDs were not seen");
        pass_about(s->r, R_RFC4391_9_1_1_GID_FROM_PORT_GUID, &address);
        break;
    case WHOSE_OTHERS:
        expect_about(s->r, R_RFC4391_9_1_1_GID_OF_PORT, &address, false, p + LLADDR_GID, GID_SIZE,
                     "a GID of the sender's port", "the GID of another port");
        break;
    case WHOSE_NOBODYS:
        expect_about(s->r, R_RFC4391_9_1_1_GID_FROM_PORT_GUID, &address, false, p + LLADDR_GID,
                     GID_SIZE, "the subnet prefix and the GUID of the sender's port",
                     "another GID");
        break;
    case WHOSE_UNKNOWN:
        inconclusive(s->r, R_RFC4391_9_1_1_GID_OF_PORT, p, "the port's GIDs were not seen");
        inconclusive(s->r, R_RFC4391_9_1_1_GID_FROM_PORT_GUID, p, "the port's GIDs were not seen");
        break;
    }
}

/*
 * An interface has one UD QP, with connected mode (RFC 4755 §2.2) or without it ("whether or not it
 * supports this extension", §3.1), so it sends from the one that it names.
 */
static void check_ud_qp(const struct scene *s, const uint8_t *p)
{
    struct subject address = subject_address(p);
    if (s->p->ib.transport != IB_UD)
        return;
    if (s->p->ib.sqpn == be24(p + LLADDR_QPN)) {
        pass_about(s->r, R_RFC4755_2_2_ONE_UD_QP, &address);
    } else if (is_news(s->r, R_RFC4755_2_2_ONE_UD_QP, &address, s->p->ib.sqpn)) {
        char expected[16], actual[16];
        g_snprintf(expected, sizeof expected, "QPN 0x%06x", be24(p + LLADDR_QPN));
        g_snprintf(actual, sizeof actual, "QPN 0x%06x", s->p->ib.sqpn);
        fail_about(s->r, R_RFC4755_2_2_ONE_UD_QP, &address,
                   s->r->base + s->p->ib.deth_off + DETH_SRC_QP, 3, expected, actual);
    }
}

/* The sender's own address. */
static void announced(const struct scene *s, const uint8_t *p)
{
    if (lladdr_is_zero(p) || lladdr_is_multicast(p))
        return;
    enum whose whose = fabric_whose_gid(s->f, s->p, p + LLADDR_GID);
    check_gid(s, p, whose);
    if (whose == WHOSE_OWN)
        check_ud_qp(s, p);
    else if (whose == WHOSE_UNKNOWN && s->p->ib.transport == IB_UD)
        inconclusive(s->r, R_RFC4755_2_2_ONE_UD_QP, NULL, "the port's GIDs were not seen");
}

/* ---- IPv6 interface identifiers (RFC 4391 §8) */

static void check_u_bit(const struct scene *s, const struct subject *address, const uint8_t *iid,
                        const uint8_t *guid, const uint8_t *at)
{
    if (guid[0] & U_BIT)
        inconclusive(s->r, R_RFC4391_8_U_BIT, at,
                     "the GUID's u bit is 1: it may be modified or not");
    else
        expect_about(s->r, R_RFC4391_8_U_BIT, address, iid[0] & U_BIT, at, 1,
                     "u bit 1, toggled from the EUI-64 GUID's 0", "u bit 0");
}

/* Are the first n bytes of the interface identifier those of the GUID, the u bit left out? */
static bool begins_as(const uint8_t *iid, const uint8_t *guid, size_t n)
{
    return ((iid[0] ^ guid[0]) & ~U_BIT & 0xff) == 0 && memcmp(iid + 1, guid + 1, n - 1) == 0;
}

static void note_source(const struct scene *s, const struct subject *address, const uint8_t *iid)
{
    bool is_lid = s->p->ib.has_lrh && be64(iid) == s->p->ib.slid;
    note(s->r, R_RFC4391_8_INTERFACE_ID_SOURCE, address, be64(iid), iid, 8, "%s",
         is_lid ? "the interface identifier is a LID of the port"
                : "the interface identifier is not made from the port's GUID");
}

static void check_interface_id(const struct scene *s, const uint8_t *ip, const uint8_t *lladdr)
{
    struct subject address = subject_address(lladdr);
    const uint8_t *iid = ip + 8, *guid = lladdr + LLADDR_GID + 8;
    static const uint8_t zero[6];
    if (ip[0] != 0xfe || (ip[1] & 0xc0) != 0x80)
        return;
    bool form = (ip[1] & 0x3f) == 0 && memcmp(ip + 2, zero, sizeof zero) == 0;
    expect_about(s->r, R_RFC4391_8_1_LINK_LOCAL_FORM, &address, form, ip, 8,
                 "fe80::/64 and the interface identifier", "other bits of the prefix are set");
    bool from_guid = begins_as(iid, guid, EUI_SIZE);
    /* Identifiers of no vendor may be opaque, which RFC 8064 prefers, or a LID (RFC 4391 §8). */
    if (begins_as(iid, guid, OUI_SIZE))
        expect_about(s->r, R_RFC4391_8_LINK_LOCAL, &address, from_guid, iid, 8,
                     "made from the port's EUI-64 GUID", "made from another GUID of the vendor");
    if (from_guid)
        check_u_bit(s, &address, iid, guid, iid);
    else
        note_source(s, &address, iid);
}

/* ---- whom the answer goes to */

/* asker: its link-layer address. Which rule binds depends on whether it takes connections. */
static void check_reply(const struct scene *s, const uint8_t *asker, enum rule_number rule)
{
    struct subject address = subject_address(asker);
    if (s->p->ib.transport != IB_UD || ib_is_multicast(&s->p->ib) || lladdr_is_zero(asker) ||
        lladdr_is_multicast(asker))
        return;
    expect_same(s->r, rule, &address, s->r->base + s->p->ib.bth_off + BTH_DEST_QP, 3,
                be24(asker + LLADDR_QPN), s->p->ib.dqpn);
}

static void note_query(const struct scene *s, const uint8_t *sha)
{
    const struct ib_packet *ib = &s->p->ib;
    struct subject address = subject_address(sha);
    bool on_broadcast = ib->dgid && mgid_is_ipoib(ib->dgid) && mgid_read(ib->dgid).broadcast;
    if (ib->transport == IB_UD && !on_broadcast)
        note(s->r, R_RFC4755_3_QUERY_ON_BROADCAST, &address, 0, s->r->base, ib->payload_off,
             "a question that does not go to the broadcast-GID: it revalidates what is known");
}

/*
 * Is a wrong answer one to this question, the asker's last? If not, it may be one to a question
 * that was not seen.
 */
static bool waits(const struct scene *s, const struct resolution *q)
{
    return !q->answered && s->p->at.ns / 1000000000 - q->seconds <= ANSWER_SECONDS;
}

/*
 * Does somebody else than the asker have the IP? If nobody is known to have it, it may be another
 * one of the asker's, whose question was not captured, or is captured behind its answer.
 */
static bool is_anothers(const struct scene *s, const struct ip *ip, const uint8_t *asker)
{
    const struct neighbour *holder = neighbours_of_ip(s->f->neighbours, link_of(s), ip);
    return holder && !neighbour_is_same_port(holder, asker);
}

/* RFC 826: the reply's target is who asked, its link-layer address and its IP. */
static void check_target(const struct scene *s, const uint8_t *p, const struct arp *a)
{
    struct resolution like = {.link = link_of(s), .asked = ip_read(p + a->spa, 4)};
    const struct resolution *q;
    memcpy(like.asker, p + a->tha, LLADDR_SIZE);
    for (unsigned i = 0; (q = resolution_question(s->f->resolutions, &like, i)) != NULL; i++)
        if (memcmp(q->asker_ip.octets, p + a->tpa, 4) == 0) {
            pass(s->r, R_RFC4391_9_2_ARP_AS_RFC826);
            return;
        }
    struct ip target = ip_read(p + a->tpa, 4);
    q = resolution_question(s->f->resolutions, &like, 0);
    if (q && waits(s, q) && is_anothers(s, &target, q->asker))
        fail(s->r, R_RFC4391_9_2_ARP_AS_RFC826, p + a->tpa, 4, "the IP of who asked",
             "another target");
    else if (q)
        inconclusive(s->r, R_RFC4391_9_2_ARP_AS_RFC826, p + a->tpa, "the request was not seen");
}

/*
 * Does an NA answer this solicitation and no other? It goes to the port that solicited, and is the
 * first that the sender sent since: a first one that was not captured may have answered it, and
 * this one a solicitation that was not captured, of another port or QP with the same IP.
 */
static bool answers(const struct scene *s, const struct resolution *q)
{
    const struct endport *asker = endports_by_lid(s->f->endports, s->p->at.interface, q->lid);
    uint16_t lid = port_to_lid(s->p->dst);
    const struct qp *qp = s->e->has_sender_qp ? &s->e->sender_qp : NULL;
    bool to_asker = lid == q->lid || (asker && endport_has_lid(asker, lid));
    bool first = qp ? qp_is_followed(qp, q->frame, s->p->ib.psn) : s->p->ib.psn == 0;
    return to_asker && first && waits(s, q);
}

/* A solicited NA goes to the QPN that the solicitation's option named. */
static void check_advertised_to(const struct scene *s, const struct ip *asker,
                                const struct ip *asked)
{
    struct resolution like = {.link = link_of(s), .asker_ip = *asker, .asked = *asked};
    const struct resolution *q;
    if (s->p->ib.transport != IB_UD || ib_is_multicast(&s->p->ib))
        return;
    for (unsigned i = 0; (q = resolution_question(s->f->resolutions, &like, i)) != NULL; i++)
        if (be24(q->asker + LLADDR_QPN) == s->p->ib.dqpn)
            break;
    bool right = q != NULL;
    if (!right)
        q = resolution_question(s->f->resolutions, &like, 0);
    /* an IP may be that of two interfaces of a port */
    bool another = q && !right && q->lid == port_to_lid(s->p->dst) &&
                   qpns_find(s->f->qpns, &s->p->dst, s->p->ib.dqpn);
    bool connected = q && q->asker[LLADDR_FLAGS] & LLADDR_FLAGS_CONNECTED;
    enum rule_number rule = connected ? R_RFC4755_3_1_REPLY_TO_UD_QPN
                                      : R_RFC4391_9_1_1_TRAFFIC_TO_QPN;
    if (right || (q && !another && answers(s, q)))
        check_reply(s, q->asker, rule);
    else
        inconclusive(s->r, rule, NULL, "the solicitation was not seen");
}

void check_arp_scene(const struct scene *s, const struct datagram *d)
{
    struct view v = d->body;
    const struct arp *a = &d->arp;
    if (d->arp_result != WIRE_OK || a->hrd != ARP_HRD_INFINIBAND || a->hln != LLADDR_SIZE)
        return;
    bool ipv4 = a->pro == TYPE_IPV4 && a->pln == 4;
    if (arp_is_announcement(a->op))
        announced(s, v.p + a->sha);
    if (a->op == ARP_REQUEST)
        note_query(s, v.p + a->sha);
    if (a->op == ARP_REPLY && ipv4)
        check_target(s, v.p, a);
    if (a->op == ARP_REPLY) {
        bool connected = v.p[a->tha + LLADDR_FLAGS] & LLADDR_FLAGS_CONNECTED;
        check_reply(s, v.p + a->tha,
                    connected ? R_RFC4755_3_1_REPLY_TO_UD_QPN : R_RFC4391_9_1_1_ARP_REPLY_QPN);
        if (s->p->ib.transport == IB_UD)
            pass(s->r, R_RFC4755_7_RESOLUTION_OVER_UD);
    }
}

static void note_routers(const struct scene *s)
{
    const struct ib_packet *ib = &s->p->ib;
    struct subject link = subject_link(ib->pkey);
    uint8_t mgid[MGID_SIZE];
    if (!ib->dgid || !mgid_is_ipoib(ib->dgid))
        return;
    memcpy(mgid, ib->dgid, MGID_SIZE);
    memset(mgid + MGID_GROUP, 0, MGID_SIZE - MGID_GROUP);
    mgid[MGID_SIZE - 1] = 2;
    const struct group *g = groups_find(s->f->groups, s->p->at.interface, mgid);
    bool there = g && g->state == GROUP_THERE;
    note(s->r, R_DRAFT_7_ALL_ROUTER_GROUP, &link, there, ib->payload.p, ib->payload.cap,
         "a router is attached; the all-router group %s", there ? "is there" : "was not seen");
}

void check_nd_scene(const struct scene *s, const struct datagram *d)
{
    struct view ipv6 = d->body, icmpv6 = d->icmpv6;
    struct nd_iter it;
    struct nd_option o;
    if (icmpv6.cap == 0 || view_has(ipv6, 0, IPV6_SIZE) != WIRE_OK || !nd_options(icmpv6, &it))
        return;
    uint8_t type = icmpv6.p[0];
    if (type == ND_RA)
        note_routers(s);
    if (type == ND_NA && s->p->ib.transport == IB_UD)
        pass(s->r, R_RFC4755_7_RESOLUTION_OVER_UD);
    while (nd_next(&it, &o)) {
        if (!nd_is_ipoib_lladdr(&o) || view_has(icmpv6, o.off, o.size) != WIRE_OK)
            continue;
        const uint8_t *p = icmpv6.p + o.off + ND_OPT_LLADDR,
                      *ip = nd_option_owner(icmpv6, &o, ipv6.p + IPV6_SOURCE);
        if (!ip)
            continue;
        announced(s, p);
        check_interface_id(s, ip, p);
    }
    if (type == ND_NA && icmpv6.cap >= ND_TARGET + 16 && icmpv6.p[ND_NA_FLAGS] & ND_NA_SOLICITED) {
        struct ip asker = ip_read(ipv6.p + IPV6_DESTINATION, 16),
                  asked = ip_read(icmpv6.p + ND_TARGET, 16);
        check_advertised_to(s, &asker, &asked);
    }
}
