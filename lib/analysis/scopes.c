/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scope of the groups to which a queue pair sends: that of its link (RFC 4391 section 4). */
#include "analysis/unanswered.h"
#include "model/mix.h"

struct sender_scope *scope_at(const struct watch *w, uint32_t link, uint16_t lid, uint32_t qpn)
{
    return &w->questions->scopes[mix_two(link, lid, qpn) >> 32 & (SENDER_SCOPES - 1)];
}

/* Is it what the queue pair sent since its interface came up? */
bool scope_is_of(const struct sender_scope *s, const struct endport *port, uint32_t link,
                 uint32_t qpn)
{
    return port && s->frame && s->port == port && s->qpn == qpn && s->link == link &&
           s->ended == port->ended && s->frame > MAX(port->new_frame, port->initialised_frame);
}

uint8_t scope_of_holder(const struct watch *w, const struct neighbour *n)
{
    const struct endport *port = endports_by_gid(w->f->endports, w->p->at.interface,
                                                 n->lladdr + LLADDR_GID);
    uint32_t qpn = be24(n->lladdr + LLADDR_QPN);
    const struct sender_scope *s = port ? scope_at(w, n->link, port->lid, qpn) : NULL;
    return s && scope_is_of(s, port, n->link, qpn) && s->scope != SCOPES ? s->scope : 0;
}
