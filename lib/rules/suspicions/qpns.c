/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/suspicions/qpns.h"

#include <string.h>

#include "rules/suspicions/suspicions.h"

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

static void raise_suspicion(const struct check_context *s, struct suspicion *new)
{
    if (s->p->ib.sgid)
        memcpy(new->sgid, s->p->ib.sgid, GID_SIZE);
    if (new->expected &&new->expected != new->found)
        suspicions_raise(s, new, NULL);
}

void suspect_qpn(const struct check_context *s, const struct result *r)
{
    const struct fact *f = &r->facts[0];
    if (!s->suspicions || packet_is_corrupt(s->p))
        return;
    struct suspicion new = suspicion_of(s, r->rule, SUSPECTED_QPN, (uint32_t)r->value);
    if (f->kind == FACT_NEIGHBOUR)
        of_neighbour(s, f->neighbour, &new);
    else
        of_port(f->port, f->connection->pkey, &new);
    if (f->kind != FACT_NEIGHBOUR)
        new.connection = f->connection->number;
    raise_suspicion(s, &new);
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
