/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of a datagram to one port: the QPN in the link-layer address (RFC 4391 §9.1.1, 9.4), the
 * partition, the GRH.
 */
#include "rules/result.h"
#include "rules/suspicions/group_traffic.h"
#include "wire/encap.h"
#include "wire/ip.h"
#include "wire/nd.h"

/*
 * The datagram goes to the IP's previous address; the interface was restarted since. A sender that
 * has used the new address does not wait for the end of an entry in its ARP cache.
 */
static void check_old_qpn(const struct check_context *s, const struct ip *sender,
                          const struct neighbour *holder)
{
    bool used = has_used_new_address(s, holder);
    struct result r = {
        .rule = used ? R_RFC4391_9_1_1_TRAFFIC_TO_QPN : R_RFC4391_9_4_REVALIDATE_ARP,
        .about = entity_address(holder->lladdr),
        .wanted = be24(holder->lladdr + LLADDR_QPN),
        .value = s->p->ib.dqpn,
        .is_code = !used,
        .at = {s->r->base + s->p->ib.bth_off + BTH_DEST_QP, 3},
        .expected = "the new QPN of the address",
        .actual = "the previous QPN of the address",
        .describe = used ? describe_qpn : NULL,
        .facts = {{FACT_NEW_ADDRESS, .neighbour = holder, .ip = sender}},
    };
    r.about.other = port_to_lid(s->p->src); /* one finding for each sender */
    report_result(s, &r);
}

static void check_wrong_qpn(const struct check_context *s, const struct ip *sender,
                            const struct neighbour *holder)
{
    const struct result r = {.rule = R_RFC4391_9_1_1_TRAFFIC_TO_QPN,
                             .about = entity_address(holder->lladdr),
                             .wanted = be24(holder->lladdr + LLADDR_QPN),
                             .value = s->p->ib.dqpn,
                             .describe = describe_qpn,
                             .facts = {{FACT_NEIGHBOUR, .neighbour = holder, .ip = sender}}};
    report_result(s, &r);
}

/* For an NA, check_announced.c checks the destination QP. */
static bool is_advertisement(struct view payload)
{
    struct view d = view_from(payload, ENCAP_SIZE), icmpv6;
    return be16(payload.p) == TYPE_IPV6 && nd_in_ipv6(d, &icmpv6) && icmpv6.cap &&
           icmpv6.p[0] == ND_NA;
}

/*
 * The owner of the IP address is not known. By its announcements the port has another QPN, and
 * nothing is known of this one.
 */
static void check_unresolved(const struct check_context *s)
{
    const struct ib_packet *ib = &s->p->ib;
    const struct endport *port = ib->has_lrh
                                     ? endports_by_lid(s->f->endports, s->p->at.interface, ib->dlid)
                                     : NULL;
    if (port && endport_announced(port, ib->pkey, ib->dqpn) == ANNOUNCED_ANOTHER &&
        !qpns_find(s->f->qpns, &s->p->dst, ib->dqpn))
        report_inconclusive(s->r, R_RFC4391_9_1_1_TRAFFIC_TO_QPN, NULL,
                            "the address resolution of the IP destination was not captured");
}

static void check_qpn(const struct check_context *s)
{
    struct ip source, ip;
    if (!datagram_ips(&s->p->datagram, &source, &ip) || is_advertisement(s->p->ib.payload))
        return;
    const struct neighbour *holder = neighbours_of_ip(s->f->neighbours, packet_link_key(s->p), &ip);
    if (!holder) { /* beyond a router, or its resolution was not captured */
        check_unresolved(s);
        return;
    }
    const struct neighbour *replaced = neighbour_replaced(holder);
    if (be24(holder->lladdr + LLADDR_QPN) == s->p->ib.dqpn) {
        struct entity address = entity_address(holder->lladdr);
        report_pass_about(s->r, R_RFC4391_9_1_1_TRAFFIC_TO_QPN, &address);
        if (replaced)
            report_pass(s->r, R_RFC4391_9_4_REVALIDATE_ARP);
    } else if (replaced && be24(replaced->lladdr + LLADDR_QPN) == s->p->ib.dqpn) {
        check_old_qpn(s, &source, holder);
    } else {
        check_wrong_qpn(s, &source, holder);
    }
}

/*
 * "All IP communication to the relevant IPoIB interface MUST be directed to this QPN" (RFC 4391
 * §9.1.1): a datagram to the IP address of one interface does not go to a group. It is a violation
 * only if the sender resolved the address (certainty_neighbour()). A DHCP server may have no other
 * way to a client that forgot its address.
 */
void check_ip_to_group(const struct check_context *s)
{
    const struct datagram *d = &s->p->datagram;
    struct ip source, ip;
    if (!datagram_ips(d, &source, &ip) || d->dhcp_bytes.p || is_advertisement(s->p->ib.payload))
        return;
    const struct neighbour *holder = neighbours_of_ip(s->f->neighbours, packet_link_key(s->p), &ip);
    if (holder)
        check_wrong_qpn(s, &source, holder);
}

/* The destination QP of the datagram, as known before this packet; NULL: unknown. */
static const struct qp *qp_of_receiver(const struct check_context *s)
{
    const struct ib_packet *ib = &s->p->ib;
    bool loops = port_same(s->p->src, s->p->dst) && ib->sqpn == ib->dqpn;
    if (loops)
        return s->e->has_sender_qp ? &s->e->sender_qp : NULL;
    return qpns_find(s->f->qpns, &s->p->dst, ib->dqpn);
}

static void note_partition(const struct check_context *s)
{
    const struct ib_packet *ib = &s->p->ib;
    const struct qp *to = qp_of_receiver(s);
    struct entity qp = entity_qp(port_to_lid(s->p->dst), ib->dqpn);
    if (!to || !to->pkey)
        return;
    if (!is_partition(ib->pkey))
        return; /* check_link.c notes it */
    if (!same_partition(to->pkey, ib->pkey) || to->qkey != ib->qkey)
        report_note(s->r, R_RFC4391_3_SAME_PARTITION, &qp, (uint64_t)ib->qkey << 16 | ib->pkey,
                    s->r->base + ib->bth_off + BTH_PKEY, 2,
                    "P_Key 0x%04x, Q_Key 0x%08x; that QP sends with P_Key 0x%04x, Q_Key 0x%08x",
                    ib->pkey, ib->qkey, to->pkey, to->qkey);
    else if (!(to->pkey & PKEY_MEMBERSHIP) && !(ib->pkey & PKEY_MEMBERSHIP))
        report_note(s->r, R_PARTITION_LIMITED_TO_LIMITED, &qp, ib->pkey,
                    s->r->base + ib->bth_off + BTH_PKEY, 2,
                    "a limited member of 0x%04x sends to a limited member", ib->pkey);
}

static void note_grh(const struct check_context *s)
{
    const struct ib_packet *ib = &s->p->ib;
    if (!ib->has_grh || !ib->has_lrh)
        return;
    bool across = memcmp(ib->sgid, ib->dgid, 8) != 0;
    struct entity ports = entity_port(ib->sgid, ib->dlid);
    report_note(s->r, R_RFC4391_9_1_GID_ACROSS_SUBNETS, &ports, across, s->r->base + ib->grh_off,
                GRH_SIZE, "%s",
                across ? "a GRH, needed to another IB subnet"
                       : "a GRH, not needed within the IB subnet");
}

/* RFC 4391 §4: 255.255.255.255 goes to the broadcast-GID. */
static void check_broadcast(const struct check_context *s)
{
    const struct datagram *d = &s->p->datagram;
    struct entity qp = entity_qp(port_to_lid(s->p->src), s->p->ib.sqpn);
    if (d->header == WIRE_OK && d->encap.type == TYPE_IPV4 && encapsulation_fits(d) &&
        view_has(d->body, IPV4_DESTINATION, IPV4_ADDRESS_SIZE) == WIRE_OK &&
        be32(d->body.p + IPV4_DESTINATION) == 0xffffffffu)
        expect_about(s->r, R_RFC4391_4_BROADCAST_MAPPING, &qp, false, d->body.p + IPV4_DESTINATION,
                     IPV4_ADDRESS_SIZE, "the broadcast-GID", "one port");
}

void check_unicast(const struct check_context *s)
{
    check_sending_interface(s);
    check_broadcast(s);
    check_qpn(s);
    note_partition(s);
    suspect_link_qkey(s);
    note_grh(s);
}
