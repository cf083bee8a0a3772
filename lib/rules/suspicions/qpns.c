/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the QPN that a packet has for an interface with the one in the link-layer address that
 * the interface's port announced (RFC 4391 §9.1.1, RFC 4755 §3.2 and 3.5).
 */
#include <string.h>

#include "rules/suspicions/results.h"

/* Does the capture have a reply to the port's last request for the address, or to one before? */
static bool has_reply(const struct check_context *s, const struct neighbour *by,
                      const struct neighbour *holder)
{
    struct resolution like = {.link = holder->link};
    like.requester_ip = by->ip;
    like.target = holder->ip;
    memcpy(like.requester, by->lladdr, LLADDR_SIZE);
    const struct resolution *q = resolution_request(s->f->resolutions, &like, 0);
    return q && (q->reply_frame || q->before.frame);
}

/* The port has the address from such a reply, or from a request that it answered (RFC 826). */
static bool has_resolved(const struct check_context *s, const struct neighbour *by,
                         const struct neighbour *holder)
{
    return by && (has_reply(s, by, holder) || has_reply(s, holder, by));
}

static const struct neighbour *neighbour_of(const struct check_context *s,
                                            const struct endport *port, uint32_t qpn,
                                            uint8_t length)
{
    uint8_t lladdr[LLADDR_SIZE] = {0, (uint8_t)(qpn >> 16), (uint8_t)(qpn >> 8), (uint8_t)qpn};
    memcpy(lladdr + LLADDR_GID, port->gid, GID_SIZE);
    return neighbours_of_lladdr(s->f->neighbours, lladdr, length, s->p->at.frame);
}

/* The requester has resolved the responder's addresses of so many of IPv4 and IPv6. */
static unsigned count_resolved(const struct check_context *s, const struct fact *f)
{
    const struct connection *c = f->connection;
    unsigned n = 0;
    uint32_t frame;
    for (uint8_t length = 4; c->endport[0] && length <= 16; length *= 4) {
        const struct neighbour *holder = neighbour_of(
            s, f->port, endport_ud_qpn(f->port, c->pkey, &frame), length);
        n += holder &&
             has_resolved(s, neighbour_of(s, c->endport[0], c->requester.ud_qpn, length), holder);
    }
    return n;
}

/*
 * Has the sender the port's address from a reply that was captured? If not, it may still have one
 * from before a restart of the port's interface (RFC 4391 section 9.4). A REQ may be for IPv4 or
 * for IPv6, which have tables of their own.
 */
static bool has_address(const struct check_context *s, const struct fact *f)
{
    if (f->kind == FACT_NEIGHBOUR)
        return f->port ||
               has_resolved(s, neighbours_of_ip(s->f->neighbours, f->neighbour->link, f->ip),
                            f->neighbour);
    return f->port == s->e->gsi /* its own */ || count_resolved(s, f) == 2;
}

/* The QPN that the port announced, from the datagram's receiver. */
static void of_neighbour(const struct check_context *s, const struct neighbour *n,
                         struct suspicion *new)
{
    new->pkey = s->p->ib.pkey;
    new->expected = be24(n->lladdr + LLADDR_QPN);
    new->other_frame = n->last_frame;
    memcpy(new->about, n->lladdr + LLADDR_GID, GID_SIZE);
}

/* The same, from the port that the packet names. */
static void of_port(const struct endport *port, uint16_t pkey, struct suspicion *new)
{
    new->pkey = pkey;
    new->expected = endport_ud_qpn(port, pkey, &new->other_frame);
    memcpy(new->about, port->gid, GID_SIZE);
}

static bool raise_suspicion(const struct check_context *s, struct suspicion *new)
{
    if (s->p->ib.sgid)
        memcpy(new->sgid, s->p->ib.sgid, GID_SIZE);
    return new->expected &&new->expected != new->found &&suspicions_raise(s, new, NULL);
}

bool suspect_qpn(const struct check_context *s, const struct result *r, bool is_claim)
{
    const struct fact *f = &r->facts[0];
    bool is_datagram = f->kind == FACT_NEIGHBOUR;
    bool known = has_address(s, f), is_service = r->rule == R_RFC4755_3_5_SERVICE_ID;
    if (!s->suspicions || packet_is_corrupt(s->p) || (!known && !is_service))
        return false;
    struct suspicion new = suspicion_of(s, r->rule, SUSPECTED_QPN, (uint32_t)r->value);
    new.is_confirmed = known; /* else the REP may */
    new.is_early = is_claim;
    if (is_datagram) {
        of_neighbour(s, f->neighbour, &new);
    } else {
        of_port(f->port, f->connection->pkey, &new);
        new.is_resolved = count_resolved(s, f) > 0;
        new.connection = f->connection->number;
    }
    return raise_suspicion(s, &new);
}

bool suspect_target(const struct check_context *s, const uint8_t *lladdr)
{
    const struct endport *port = endports_by_gid(s->f->endports, s->p->at.interface,
                                                 lladdr + LLADDR_GID);
    uint16_t pkey = s->p->ib.pkey;
    uint32_t qpn = be24(lladdr + LLADDR_QPN);
    if (!s->suspicions || packet_is_corrupt(s->p) || !port || port_has_qpn(s, port, pkey, qpn) ||
        endport_announced(port, pkey, qpn) != ANNOUNCED_ANOTHER)
        return false;
    struct suspicion new = suspicion_of(s, R_RFC4391_9_2_ARP_AS_RFC826, SUSPECTED_QPN, qpn);
    of_port(port, pkey, &new);
    raise_suspicion(s, &new);
    return true;
}

const struct neighbour *suspected_holder(const struct check_context *s, const struct endport *port)
{
    uint32_t frame, qpn = endport_ud_qpn(port, s->p->ib.pkey, &frame);
    const struct neighbour *n = qpn ? neighbour_of(s, port, qpn, 16) : NULL;
    return n || !qpn ? n : neighbour_of(s, port, qpn, 4);
}

/*
 * A second interface of the port has its own IP address, too, unless it was not captured. Each link
 * of the partition, by its scope, may have an interface of the port.
 */
void suspect_source(const struct check_context *s, const struct result *r, uint32_t source)
{
    const struct endport *port = r->facts[0].port;
    const struct qp *own = qp_of_port(s, port, (uint32_t)r->wanted);
    const struct group *b = broadcasts_of(s, s->p->ib.pkey);
    bool has_another = s->e->has_sender_qp && s->e->sender_qp.source &&
                       s->e->sender_qp.source != source;
    if (!own || own->source != source || has_another || port->several_interfaces || (b && b->next))
        return;
    report_inconclusive(s->r, r->rule, r->unknown_at,
                        "another interface of the port may have the same IP address");
    if (!s->suspicions || packet_is_corrupt(s->p))
        return;
    struct suspicion new = suspicion_of(s, r->rule, SUSPECTED_QPN, r->value);
    new.is_early = true; /* the announced QPN must be used later */
    new.of_source = true;
    new.expected = (uint32_t)r->wanted;
    new.other_frame = own->sequence.last_frame;
    memcpy(new.about, port->gid, GID_SIZE);
    raise_suspicion(s, &new);
}
