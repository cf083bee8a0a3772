/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/address.h"

#include "model/lifecycle.h"
#include "model/observation.h"
#include "wire/ip.h"
#include "wire/nd.h"
#include "wire/put.h"

/*
 * The GID is known to be the owner's, which has another LID than the sender. The owner may have
 * another LID by now, or be a virtual function that moved to the sender. It then joins its groups
 * again from the sender's LID. So if the owner named its GID, it is there while no request from the
 * sender's LID is missing; the sender's next request shows it.
 */
static enum whose of_another(const struct fabric_facts *f, const struct endport *sender,
                             const struct endport *owner)
{
    if (endport_requests_are_complete(owner))
        return WHOSE_OTHERS;
    uint32_t since = endport_gsi_since(sender);
    bool named = endports_gid_is_confirmed(f->endports, sender) &&
                 endports_gid_is_confirmed(f->endports, owner);
    return named && since < owner->named_frame ? WHOSE_OTHERS_NAMED : WHOSE_UNKNOWN;
}

enum whose fabric_whose_gid(const struct fabric_facts *f, const struct packet *p,
                            const uint8_t *gid)
{
    const struct ib_packet *ib = &p->ib;
    if (ib->has_grh && memcmp(ib->sgid, gid, GID_SIZE) == 0)
        return WHOSE_OWN;
    if (!ib->has_lrh)
        return WHOSE_UNKNOWN;
    const struct endport *sender = endports_by_lid(f->endports, p->at.interface, ib->slid);
    const struct endport *owner = endports_by_gid(f->endports, p->at.interface, gid);
    if (owner && (owner == sender || endport_has_lid(owner, ib->slid)))
        return WHOSE_OWN;
    if (!sender || !endport_has_gid(sender))
        return WHOSE_UNKNOWN;
    if (owner && owner->lid)
        return of_another(f, sender, owner);
    if (memcmp(sender->gid + 8, gid + 8, 8) == 0)
        return WHOSE_OWN_GUID;
    /* alias GUIDs with which it joined earlier may not have been captured */
    if (!endport_requests_are_complete(sender))
        return endport_has_alias(sender, gid) ? WHOSE_ALIAS : WHOSE_UNKNOWN;
    return WHOSE_NO_PORT;
}

bool datagram_ips(const struct datagram *d, struct ip *source, struct ip *destination)
{
    uint16_t type = d->encap.type;
    if (d->header != WIRE_OK || (type != TYPE_IPV4 && type != TYPE_IPV6))
        return false;
    bool v4 = type == TYPE_IPV4;
    uint8_t length = v4 ? IPV4_ADDRESS_SIZE : IPV6_ADDRESS_SIZE;
    uint32_t from = v4 ? IPV4_SOURCE : IPV6_SOURCE, to = v4 ? IPV4_DESTINATION : IPV6_DESTINATION;
    if (view_has(d->body, to, length) != WIRE_OK || d->body.p[0] >> 4 != (v4 ? 4 : 6))
        return false;
    *source = ip_read(d->body.p + from, length);
    *destination = ip_read(d->body.p + to, length);
    return true;
}

static void learn_own_qpn(const struct observation *o, struct endport *port, uint32_t qpn)
{
    const struct packet *p = o->p;
    bool is_known = endport_announced(port, p->ib.pkey, qpn) == ANNOUNCED;
    endport_announces(port, p->ib.pkey, qpn, p->at.frame);
    if (!is_known && endport_has_one_interface(port, p->ib.pkey))
        connections_interface_replaced(port, p->ib.pkey, qpn, &o->f->facts.order.clocks);
}

/*
 * Learn the sender's own link-layer address, and its IP address (NULL: none). Returns the entry of
 * another port that owned the IP address before; NULL: none.
 */
static const struct neighbour *learn_announced(const struct observation *o, const uint8_t *lladdr,
                                               const struct ip *ip)
{
    const struct packet *p = o->p;
    if (lladdr_is_zero(lladdr) || lladdr_is_multicast(lladdr) || packet_is_corrupt(p))
        return NULL;
    if (fabric_whose_gid(&o->f->facts, p, lladdr + LLADDR_GID) == WHOSE_OWN) {
        struct endport *port = endports_get_by_gid(o->f->endports, p->at.interface,
                                                   lladdr + LLADDR_GID, true);
        if (port)
            learn_own_qpn(o, port, be24(lladdr + LLADDR_QPN));
    }
    if (!ip || ip_is_unspecified(ip))
        return NULL;
    uint32_t link = packet_link_key(p);
    const struct neighbour *ousted = neighbours_seen(o->f->neighbours, link, ip, lladdr,
                                                     p->at.frame, p->at.ns, p->captured_on);
    if (p->ib.has_lrh && !p->ib.has_grh) /* within the subnet: the LID is not a router's */
        neighbours_sent_from(o->f->neighbours, link, ip, p->ib.slid);
    if (p->ib.dgid && mgid_reaches_all(p->ib.dgid))
        neighbours_told_all(o->f->neighbours, link, ip, p->at.ns, p->captured_on);
    return ousted;
}

static bool is_unicast_ud(const struct ib_packet *ib)
{
    return ib->transport == IB_UD && !ib_is_multicast(ib);
}

static void requested(const struct observation *o, const uint8_t *requester,
                      const struct ip *requester_ip, const struct ip *wanted)
{
    struct resolution q = {.link = packet_link_key(o->p),
                           .requester_ip = *requester_ip,
                           .target = *wanted,
                           .lid = port_to_lid(o->p->src),
                           .interface = o->p->captured_on,
                           .to_qpn = is_unicast_ud(&o->p->ib) ? o->p->ib.dqpn : 0,
                           .psn = o->p->ib.psn,
                           .frame = o->p->at.frame,
                           .window = order_window(&o->f->facts.order),
                           .ns = o->p->at.ns};
    if (packet_is_corrupt(o->p))
        return;
    memcpy(q.requester, requester, LLADDR_SIZE);
    resolution_requested(o->f->resolutions, &q, &o->f->facts.order);
}

/* reply: the request of a reply as the reply shows it. q: that request; NULL: not captured. */
static void replied(const struct observation *o, struct resolution *q, struct resolution *reply)
{
    if (q) {
        reply->replied = !q->replied;
        q->replied = true;
    }
    if (packet_is_corrupt(o->p))
        return;
    if (q)
        q->reply_frame = o->p->at.frame;
    resolution_replied(o->f->resolutions, reply);
}

/* ---- ARP */

/* RFC 826: the target fields of a reply are the requester's link-layer address and IP address. */
static void arp_replied(const struct observation *o, const uint8_t *message, const struct arp *a)
{
    struct resolution like = {.link = packet_link_key(o->p),
                              .requester_ip = ip_read(message + a->tpa, 4),
                              .target = ip_read(message + a->spa, 4),
                              .frame = o->p->at.frame},
                      *q;
    memcpy(like.requester, message + a->tha, LLADDR_SIZE);
    for (unsigned i = 0; (q = resolution_get(o->f->resolutions, &like, i)) != NULL; i++)
        if (memcmp(q->requester_ip.bytes, message + a->tpa, 4) == 0)
            break;
    replied(o, q, &like);
}

static void learn_arp(const struct observation *o, const struct datagram *d)
{
    const struct arp *a = &d->arp;
    const uint8_t *message = d->body.p;
    if (d->arp_result != WIRE_OK || a->hrd != ARP_HRD_INFINIBAND || a->hln != LLADDR_SIZE ||
        !arp_is_announcement(a->op))
        return;
    if (a->pro != TYPE_IPV4 || a->pln != 4) {
        learn_announced(o, message + a->sha, NULL);
        return;
    }
    struct ip sender = ip_read(message + a->spa, 4), target = ip_read(message + a->tpa, 4);
    const struct neighbour *other = learn_announced(o, message + a->sha, &sender);
    if (other) {
        o->e->has_duplicate = true;
        o->e->duplicate = *other;
    }
    if (a->op == ARP_REQUEST)
        requested(o, message + a->sha, &sender, &target);
    else if (a->op == ARP_REPLY)
        arp_replied(o, message, a);
}

/* ---- Neighbour Discovery */

/* A solicited NA goes to the QPN in the solicitation's link-layer address option. */
static void advertised(const struct observation *o, const struct ip *requester,
                       const struct ip *wanted)
{
    struct resolution like = {.link = packet_link_key(o->p),
                              .requester_ip = *requester,
                              .target = *wanted,
                              .frame = o->p->at.frame},
                      *q;
    if (!is_unicast_ud(&o->p->ib))
        return;
    put24(like.requester + LLADDR_QPN, o->p->ib.dqpn);
    for (unsigned i = 0; (q = resolution_get(o->f->resolutions, &like, i)) != NULL; i++)
        if (be24(q->requester + LLADDR_QPN) == o->p->ib.dqpn)
            break;
    replied(o, q, &like);
}

static void learn_option(const struct observation *o, const struct datagram *d,
                         const struct nd_option *option)
{
    struct view icmpv6 = d->icmpv6;
    if (!nd_is_ipoib_lladdr(option) || view_has(icmpv6, option->off, option->size) != WIRE_OK)
        return;
    if (packet_lacks_ib(o->p) && datagram_is_of_interface(d) &&
        nd_may_be_before_driver(icmpv6.p + option->off))
        return;
    const uint8_t *lladdr = icmpv6.p + option->off + ND_OPT_LLADDR,
                  *owner = nd_option_owner(icmpv6, option, d->body.p + IPV6_SOURCE);
    if (!owner)
        return;
    struct ip ip = ip_read(owner, 16);
    learn_announced(o, lladdr, &ip);
    if (icmpv6.p[0] == ND_NS && icmpv6.cap >= ND_TARGET + 16) {
        struct ip wanted = ip_read(icmpv6.p + ND_TARGET, 16);
        requested(o, lladdr, &ip, &wanted);
    }
}

static void learn_nd(const struct observation *o, const struct datagram *d)
{
    struct view ipv6 = d->body, icmpv6 = d->icmpv6;
    struct nd_iter it;
    struct nd_option option;
    if (icmpv6.cap == 0 || view_has(ipv6, 0, IPV6_SIZE) != WIRE_OK || !nd_options(icmpv6, &it))
        return;
    while (nd_next(&it, &option))
        learn_option(o, d, &option);
    if (icmpv6.p[0] == ND_NA && icmpv6.cap >= ND_TARGET + 16 &&
        icmpv6.p[ND_NA_FLAGS] & ND_NA_SOLICITED) {
        struct ip requester = ip_read(ipv6.p + IPV6_DESTINATION, 16),
                  wanted = ip_read(icmpv6.p + ND_TARGET, 16);
        advertised(o, &requester, &wanted);
    }
}

void learn_addresses(const struct observation *o)
{
    const struct datagram *d = &o->p->datagram;
    if (d->encap.type == TYPE_ARP || d->encap.type == TYPE_RARP)
        learn_arp(o, d);
    else if (d->icmpv6.p)
        learn_nd(o, d);
}

/* ---- datagrams */

void learn_stale_use(const struct observation *o)
{
    const struct packet *p = o->p;
    struct ip source, ip;
    if (!neighbours_has_replaced(o->f->neighbours) || packet_is_corrupt(p) ||
        !datagram_ips(&p->datagram, &source, &ip))
        return;
    const struct neighbour *holder = neighbours_of_ip(o->f->neighbours, packet_link_key(p), &ip);
    const struct neighbour *replaced = holder ? neighbour_replaced(holder) : NULL;
    if (!replaced || (be24(replaced->lladdr + LLADDR_QPN) != p->ib.dqpn &&
                      be24(holder->lladdr + LLADDR_QPN) != p->ib.dqpn))
        return;
    struct stale_use u = stale_use_by(p, holder, p->ib.dqpn);
    u.interface = p->captured_on;
    u.ns = p->at.ns;
    stale_used(o->f->stale, &u);
}
