/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends packets to ports, groups and neighbours. See deviant.h. */
#include "tests/probe/deviant/deviant.h"

#include <stdio.h>
#include <string.h>

#include "wire/put.h"
#include "wire/encap.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"

static void send_out(struct deviant *d, const struct ud_to *to, uint8_t *bytes, uint32_t n)
{
    struct transport *t = d->other ? d->other : d->link.transport;
    if (d->fault == FAULT_RESERVED_SENT || d->fault == FAULT_RESERVED_SENT6 ||
        d->fault == FAULT_SECOND_LATE)
        put16(bytes + ENCAP_RESERVED, 0x0012);
    if (t->ops->send(t, to, bytes, n) != TRANSPORT_OK)
        fprintf(stderr, "deviant: %s\n", t->error);
}

void send_to_port(struct deviant *d, uint16_t lid, uint8_t sl, uint32_t qpn, uint8_t *bytes,
                  uint32_t n)
{
    bool arp = be16(bytes) == TYPE_ARP;
    struct ud_to to = {.lid = lid, .sl = sl, .qpn = qpn, .qkey = d->link.group.qkey};
    if (arp && d->fault == FAULT_QKEY_SENT)
        to.qkey ^= 1;
    d->replies++;
    send_out(d, &to, bytes, n);
}

void send_to_group(struct deviant *d, const struct mc_group *g, uint8_t *bytes, uint32_t n)
{
    struct ud_to to = {.lid = g->mlid,
                       .sl = g->sl,
                       .hop_limit = g->hop_limit,
                       .tclass = g->tclass,
                       .flow_label = g->flow_label,
                       .qpn = QPN_MULTICAST,
                       .qkey = d->link.group.qkey,
                       .grh = true};
    memcpy(to.gid, g->mgid, 16);
    if (d->fault == FAULT_PARAMETERS)
        to.hop_limit = (uint8_t)(g->hop_limit + 5);
    send_out(d, &to, bytes, n);
}

/* ---- to a neighbour */

static struct contact *find(struct deviant *d, bool ipv6, const uint8_t *ip)
{
    struct contact *unused = &d->contact[0];
    for (unsigned i = 0; i < CONTACTS; i++) {
        struct contact *n = &d->contact[i];
        if ((n->known || n->waiting_n) && n->ipv6 == ipv6 && memcmp(n->ip, ip, ipv6 ? 16 : 4) == 0)
            return n;
        if (!n->known && !n->waiting_n)
            unused = n;
    }
    memset(unused, 0, sizeof *unused);
    unused->ipv6 = ipv6;
    memcpy(unused->ip, ip, ipv6 ? 16 : 4);
    return unused;
}

/* RFC 4391 §9.1.1: all unicast IP goes to the QPN of the link-layer address. */
static void send_waiting(struct deviant *d, struct contact *n)
{
    uint32_t qpn = d->fault == FAULT_IP_TO_SENDER ? n->waiting_from : lladdr_read(n->lladdr).qpn;
    if (n->waiting_n)
        send_to_port(d, n->lid, n->sl, qpn, n->waiting, n->waiting_n);
    n->waiting_n = 0;
}

void send_ip(struct deviant *d, const uint8_t *ip, const struct ud_from *from, uint8_t *bytes,
             uint32_t n)
{
    bool ipv6 = be16(bytes) == TYPE_IPV6;
    struct contact *to = find(d, ipv6, ip);
    if (d->fault == FAULT_TYPE_WRONG)
        put16(bytes, TYPE_IPV6);
    memcpy(to->waiting, bytes, n);
    to->waiting_n = n;
    to->waiting_from = from->qpn;
    if (to->known)
        send_waiting(d, to);
    else if (ipv6)
        request_nd(d, ip);
    else
        request_arp(d, ip);
}

void learn(struct deviant *d, const uint8_t *ip, const uint8_t *lladdr, const struct ud_from *from)
{
    struct encap e;
    encap_decode(from->bytes, &e);
    struct contact *n = find(d, e.type == TYPE_IPV6, ip);
    n->known = true;
    memcpy(n->lladdr, lladdr, LLADDR_SIZE);
    n->lid = from->lid;
    n->sl = from->sl;
    send_waiting(d, n);
}
