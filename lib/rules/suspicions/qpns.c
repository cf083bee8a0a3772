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

/* The same, from the port that the CM message names. */
static void of_port(const struct fact *f, struct suspicion *new)
{
    new->pkey = f->connection->pkey;
    new->connection = f->connection->number;
    new->expected = endport_ud_qpn(f->port, new->pkey, &new->other_frame);
    memcpy(new->about, f->port->gid, GID_SIZE);
}

void suspect_qpn(const struct check_context *s, const struct result *r)
{
    const struct fact *f = &r->facts[0];
    struct suspicion new = {.rule = r->rule,
                            .which = SUSPECTED_QPN,
                            .interface = s->p->at.interface,
                            .found = (uint32_t)r->value,
                            .frame = s->p->at.frame,
                            .is_confirmed = true,
                            .sender = sender_of(s->f, s->p)};
    if (!s->suspicions || packet_is_corrupt(s->p))
        return;
    if (f->kind == FACT_NEIGHBOUR)
        of_neighbour(s, f->neighbour, &new);
    else
        of_port(f, &new);
    if (s->p->ib.sgid)
        memcpy(new.sgid, s->p->ib.sgid, GID_SIZE);
    if (new.expected &&new.expected != new.found)
        suspicions_raise(s, &new);
}
