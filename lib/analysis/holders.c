/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IP addresses that have another holder than before: moved to another port, with another QPN of the
 * same port, or held by two ports at once; and announcements that miss the link's hosts.
 *
 * Two ports hold an address if the first announces it again after the second did, without taking it
 * over: by an ordinary ARP request or reply. A port that takes an address over announces it by
 * gratuitous ARP (RFC 5227 section 3) or an unsolicited advertisement. An address that goes back
 * after more than a minute may have been moved by hand; then it must alternate once more.
 */
#include "analysis/watch.h"
#include "rules/check_context.h"
#include "wire/nd.h"

enum { TWO_HOLDERS_MS = 60000 };

static const uint8_t all_nodes[IPV6_ADDRESS_SIZE] = {0xff, 0x02, [15] = 1};

struct announcement {
    struct ip ip;
    bool takes_over; /* gratuitous or unsolicited */
};

static bool read_arp(const struct datagram *d, struct announcement *a)
{
    const struct arp *m = &d->arp;
    if (d->arp_result != WIRE_OK || m->pln != IPV4_ADDRESS_SIZE || m->hln != LLADDR_SIZE)
        return false;
    a->ip = ip_read(d->body.p + m->spa, IPV4_ADDRESS_SIZE);
    a->takes_over = memcmp(d->body.p + m->spa, d->body.p + m->tpa, IPV4_ADDRESS_SIZE) == 0;
    return true;
}

/* An advertisement without the Override flag takes nothing over, as of an anycast address. */
static bool read_nd(const struct datagram *d, struct announcement *a)
{
    const uint8_t *m = d->icmpv6.p;
    if (view_has(d->icmpv6, 0, ND_TARGET + 16) != WIRE_OK || (m[0] != ND_NS && m[0] != ND_NA) ||
        (m[0] == ND_NA && !(m[ND_NA_FLAGS] & ND_NA_OVERRIDE)))
        return false;
    a->ip = ip_read(m[0] == ND_NA ? m + ND_TARGET : d->body.p + IPV6_SOURCE, IPV6_ADDRESS_SIZE);
    a->takes_over = m[0] == ND_NA && !(m[ND_NA_FLAGS] & ND_NA_SOLICITED);
    return true;
}

static bool read_announcement(const struct packet *p, struct announcement *a)
{
    const struct datagram *d = &p->datagram;
    if (d->header == WIRE_OK && d->encap.type == TYPE_ARP)
        return read_arp(d, a);
    return d->icmpv6.p && read_nd(d, a);
}

/* The fields of a holder, with its port as the model knows it. */
static struct sender sender_of_holder(const struct watch *w, const struct neighbour *n)
{
    const uint8_t *gid = n->lladdr + LLADDR_GID;
    struct sender s = sender_of_endport(endports_by_gid(w->f->endports, w->p->at.interface, gid));
    memcpy(s.gid, gid, GID_SIZE);
    s.known |= SENDER_GID;
    return sender_with_ip(s, &n->ip);
}

static struct event_key key_of_ip(const struct watch *w, enum event_kind kind,
                                  const struct neighbour *n, uint64_t number)
{
    struct event_key key = event_key(w, kind, NULL, NULL, number << 32 | n->link);
    memcpy(key.about, n->ip.bytes, n->ip.length);
    return key;
}

static struct event_key key_of_move(const struct watch *w, const struct neighbour *n)
{
    struct event_key key = key_of_ip(w, EVENT_MOVED, n, be24(n->lladdr + LLADDR_QPN));
    memcpy(key.who, n->lladdr + LLADDR_GID, GID_SIZE);
    return key;
}

static void moved(const struct watch *w, const struct neighbour *n)
{
    const struct neighbour *before = n->before;
    struct sender who = sender_of_holder(w, n);
    char gid[GID_TEXT];
    uint32_t qpn = be24(n->lladdr + LLADDR_QPN), old = be24(before->lladdr + LLADDR_QPN);
    const struct event_key key = key_of_move(w, n);
    if (neighbour_is_same_port(before, n->lladdr))
        watch_event(w, &key, &who, before->last_frame,
                    "its QPN changed from 0x%06x to 0x%06x: hosts with the old address send to a "
                    "queue pair that is gone",
                    old, qpn);
    else
        watch_event(w, &key, &who, before->last_frame,
                    "it announces the address; before, GID %s, QPN 0x%06x did",
                    text_of_gid(gid, before->lladdr + LLADDR_GID), old);
}

/* Did this port hold the address before the previous holder, and does it still hold it? */
static bool has_two_holders(const struct watch *w, const struct neighbour *n)
{
    const struct neighbour *other = n->before;
    if (neighbour_is_same_port(other, n->lladdr) || !other->before ||
        !neighbour_is_same_port(other->before, n->lladdr))
        return false;
    bool soon = w->p->at.ns / 1000000 - other->taken_ns / 1000000 <= TWO_HOLDERS_MS;
    const struct event_key before = key_of_move(w, n);
    return soon || watch_has_event(w, &before);
}

static void two_holders(const struct watch *w, const struct neighbour *n)
{
    struct sender who = sender_of_holder(w, n);
    const struct event_key key = key_of_ip(w, EVENT_DUPLICATE_IP, n, 0);
    char gid[GID_TEXT];
    watch_event(w, &key, &who, n->before->taken_frame,
                "the address is announced by two ports: by this one, and by GID %s, QPN 0x%06x, in "
                "frame %u",
                text_of_gid(gid, n->before->lladdr + LLADDR_GID),
                be24(n->before->lladdr + LLADDR_QPN), n->before->taken_frame);
}

static bool is_link_local(const struct ip *ip)
{
    return ip->length == IPV6_ADDRESS_SIZE && ip->bytes[0] == 0xfe && ip->bytes[1] >> 6 == 2;
}

/*
 * Interfaces of one port on one partition may share a link-local address, each with its QPN. The
 * port had only one of them if it joined the broadcast group again before it announced the new QPN.
 */
static bool is_move(const struct watch *w, const struct neighbour *n)
{
    const uint8_t *gid = n->lladdr + LLADDR_GID;
    const struct endport *port = endports_by_gid(w->f->endports, w->p->at.interface, gid);
    return !neighbour_is_same_port(n->before, n->lladdr) || !is_link_local(&n->ip) ||
           (port && endport_has_one_interface(port, w->p->ib.pkey));
}

static void watch_holder(const struct watch *w, const struct announcement *a)
{
    const struct neighbour *n = neighbours_of_ip(w->f->neighbours, packet_link_key(w->p), &a->ip);
    if (!n || !n->before || n->taken_frame != w->p->at.frame)
        return;
    if (!a->takes_over && has_two_holders(w, n))
        two_holders(w, n);
    else if (is_move(w, n))
        moved(w, n);
}

/* ---- announcements that do not reach the link */

static void announcement_lost(const struct watch *w, const struct announcement *a,
                              const char *right)
{
    const struct ib_packet *ib = &w->p->ib;
    struct sender who = sender_of(w->f, w->p);
    const struct event_key key = event_key(w, EVENT_ANNOUNCEMENT_LOST, ib->sgid, ib->dgid,
                                           be24(a->ip.bytes + a->ip.length - 3));
    char group[GID_TEXT];
    who = sender_with_ip(who, &a->ip);
    watch_event(w, &key, &who, 0,
                "its announcement of the address goes to the group %s, not to %s: other hosts keep "
                "the old address",
                text_of_gid(group, ib->dgid), right);
}

/* Hosts of the link listen to its broadcast group, and those with IPv6 to ff02::1. */
static void watch_group_of_announcement(const struct watch *w, const struct announcement *a)
{
    const struct ib_packet *ib = &w->p->ib;
    const struct group *broadcast;
    char right[GID_TEXT];
    if (!a->takes_over || !ib->dgid || !mgid_is_ipoib(ib->dgid))
        return;
    broadcast = groups_only_broadcast(w->f->groups, w->p->at.interface, ib->pkey);
    if (a->ip.length == IPV4_ADDRESS_SIZE && broadcast &&
        memcmp(broadcast->mgid, ib->dgid, MGID_SIZE) != 0)
        announcement_lost(w, a, text_of_gid(right, broadcast->mgid));
    else if (a->ip.length == IPV6_ADDRESS_SIZE &&
             memcmp(w->p->datagram.body.p + IPV6_DESTINATION, all_nodes, IPV6_ADDRESS_SIZE) != 0)
        announcement_lost(w, a, "the group of ff02::1");
}

/* Most announcements are those of a holder that is known, to one host. */
void watch_holders(const struct watch *w)
{
    bool is_taken = neighbours_taken_frame(w->f->neighbours) == w->p->at.frame;
    struct announcement a;
    if ((!is_taken && !w->p->ib.dgid) || !read_announcement(w->p, &a) || ip_is_unspecified(&a.ip))
        return;
    if (is_taken)
        watch_holder(w, &a);
    watch_group_of_announcement(w, &a);
}
