/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What makes a multicast packet IPoIB: its group has one of the two signatures of RFC 4391 §4, or
 * its sender is an IPoIB interface. Groups of other protocols have other signatures (RDMA CM:
 * 0x4001, 0x6001), and their payload may look like an IPoIB datagram.
 *
 * So a datagram to a multicast GID with another signature, or to a GID that does not begin with
 * 0xff, is a violation only if an IPoIB interface sends it; no other rule applies to it otherwise.
 */
#include "rules/result.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/lladdr.h"
#include "wire/mgid.h"

/* Is it an ARP message whose sender address contains the QPN and GID that sent it? */
static bool names_its_qp(const struct check_context *s)
{
    const struct ib_packet *ib = &s->p->ib;
    const struct datagram *d = &s->p->datagram;
    if (d->arp_result != WIRE_OK || d->arp.hrd != ARP_HRD_INFINIBAND || d->arp.hln != LLADDR_SIZE)
        return false;
    const uint8_t *sha = d->body.p + d->arp.sha;
    return be24(sha + LLADDR_QPN) == ib->sqpn && memcmp(sha + LLADDR_GID, ib->sgid, GID_SIZE) == 0;
}

/*
 * Is the QP known to be an IPoIB interface, by an IPoIB group that it sent to or by its link-layer
 * address?
 */
static bool is_interface(const struct check_context *s)
{
    const struct ib_packet *ib = &s->p->ib;
    const struct qp *qp = qpns_find(s->f->qpns, &s->p->src, ib->sqpn);
    if (qp && qp->scope && qp->pkey == ib->pkey && qp->qkey == ib->qkey)
        return true;
    return sending_interface(s) || names_its_qp(s);
}

static bool carries_ipv4(uint16_t type)
{
    return type == TYPE_IPV4 || type == TYPE_ARP || type == TYPE_RARP;
}

/* The GID does not begin with 0xff. */
static void check_prefix(const struct check_context *s, bool known)
{
    const struct ib_packet *ib = &s->p->ib;
    const struct result r = {.rule = R_RFC4391_4_MGID_FORMAT,
                             .about = entity_group(ib->dgid),
                             .wanted = 0xff,
                             .value = ib->dgid[MGID_PREFIX],
                             .at = {ib->dgid + MGID_PREFIX, 1},
                             .describe = describe_hex,
                             .facts = {{FACT_INTERFACE, .known = known}}};
    if (ib->has_lrh && ib->dlid >= LID_MULTICAST_FIRST && ib->dlid != LID_PERMISSIVE &&
        ib->dqpn == QPN_MULTICAST && encap_agrees(ib->payload))
        report_result(s, &r);
}

static void check_signature(const struct check_context *s, bool known)
{
    const struct ib_packet *ib = &s->p->ib;
    struct entity group = entity_group(ib->dgid);
    if (!encap_agrees(ib->payload))
        return;
    bool ipv4 = carries_ipv4(s->p->datagram.encap.type);
    enum rule_number rule = ipv4 ? R_RFC4391_4_MGID_SIGNATURE_IPV4
                                 : R_RFC4391_4_MGID_SIGNATURE_IPV6;
    uint16_t wanted = ipv4 ? MGID_SIGNATURE_IPV4 : MGID_SIGNATURE_IPV6;
    const struct result r = {.rule = rule,
                             .about = group,
                             .wanted = wanted,
                             .value = be16(ib->dgid + MGID_SIGNATURE),
                             .at = {ib->dgid + MGID_SIGNATURE, 2},
                             .describe = describe_hex,
                             .facts = {{FACT_INTERFACE, .known = known}}};
    settle_result(s, &r, known && r.value == r.wanted);
}

bool check_other_group(const struct check_context *s)
{
    bool known = is_interface(s);
    if (s->p->ib.dgid[MGID_PREFIX] == 0xff)
        check_signature(s, known);
    else
        check_prefix(s, known);
    return known;
}
