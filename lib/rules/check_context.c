/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/check_context.h"

/*
 * Did the port join a broadcast group of another scope since the QP last sent to a group? Then the
 * interface may have moved to that link.
 */
static bool may_have_moved(const struct check_context *s, const struct qp *qp)
{
    for (const struct group *b = broadcasts_of(s, s->p->ib.pkey); b; b = b->next) {
        const struct endport *port = group_scope(b) != qp->scope ? sending_port(s) : NULL;
        const struct member *m = port ? groups_member(s->f->groups, b, port) : NULL;
        if (m && (m->pending || m->frame > qp->group_frame))
            return true;
    }
    return false;
}

uint8_t scope_before(const struct check_context *s)
{
    const struct qp *qp = s->e->has_sender_qp ? &s->e->sender_qp : NULL;
    return qp && qp->scope && !may_have_moved(s, qp) ? qp->scope : 0;
}

uint8_t sending_scope(const struct check_context *s)
{
    const struct ib_packet *ib = &s->p->ib;
    bool to_group = ib->dgid && mgid_is_ipoib(ib->dgid);
    return to_group ? ib->dgid[MGID_FLAGS_SCOPE] & 0x0f : scope_before(s);
}

bool is_sa(const struct check_context *s)
{
    uint16_t lid = port_to_lid(s->p->src);
    return lid && lid == subnet_sa_lid(s->f->subnet, s->p->at.interface);
}

bool is_sa_port(const struct check_context *s, const struct endport *port)
{
    uint16_t lid = subnet_sa_lid(s->f->subnet, port->interface);
    return lid && endport_has_lid(port, lid);
}

/*
 * The port whose GID the sending QP has used, if it is not the first one seen at the LID: several
 * GIDs may share a LID (IBA 4.1.1), and any node can write the LID of another into its packets.
 * NULL: it is that first one, or a packet of the LID's GSI may be missing since the port's last
 * request to the SA: gaps are counted for the first one.
 */
static const struct endport *other_port_of_qp(const struct check_context *s,
                                              const struct endport *first)
{
    const struct endport *port = s->e->has_sender_qp ? endport_of(s->e->sender_qp.endport) : NULL;
    bool at_lid = port && port != first && port->interface == s->p->at.interface &&
                  endport_has_lid(port, s->p->ib.slid);
    return at_lid && (!first || port->named_frame >= first->gsi.gap_frame) ? port : NULL;
}

const struct endport *sending_port(const struct check_context *s)
{
    const struct ib_packet *ib = &s->p->ib;
    if (ib->has_grh)
        return endports_by_gid(s->f->endports, s->p->at.interface, ib->sgid);
    if (!ib->has_lrh)
        return NULL;
    const struct endport *first = endports_by_lid(s->f->endports, s->p->at.interface, ib->slid);
    const struct endport *other = other_port_of_qp(s, first);
    return other ? other : first;
}

const struct qp *qp_of_port(const struct check_context *s, const struct endport *port, uint32_t qpn)
{
    const struct qp *newest = NULL;
    for (uint32_t lid = port->lid; port->lid && endport_has_lid(port, (uint16_t)lid); lid++) {
        const struct port from = port_lid(port->interface, (uint16_t)lid);
        const struct qp *qp = qpns_find(s->f->qpns, &from, qpn);
        if (qp && (!newest || qp->sequence.last_frame > newest->sequence.last_frame))
            newest = qp;
    }
    return newest;
}

bool sender_is_followed(const struct check_context *s, uint32_t since)
{
    return s->e->sender_seen == SEEN_NEXT &&
           sequence_is_whole_since(&s->e->sender_qp.sequence, since);
}

bool has_joined_since(const struct check_context *s, const struct endport *port, uint16_t pkey,
                      uint32_t frame)
{
    for (const struct group *b = broadcasts_of(s, pkey); b; b = b->next) {
        const struct member *m = groups_member(s->f->groups, b, port);
        if (m && (m->pending || m->frame > frame))
            return true;
    }
    return false;
}

bool lacks_broadcast(const struct check_context *s, uint16_t pkey, uint8_t scope, uint32_t *since,
                     bool *deleted)
{
    bool missing = false;
    *since = 0;
    *deleted = false;
    for (const struct group *b = broadcasts_of(s, pkey); b; b = b->next) {
        if (!group_is_absent(b))
            return false;
        missing |= group_scope(b) == scope;
        *deleted |= b->state == GROUP_DELETED;
        *since = MAX(*since, b->frame);
    }
    return missing;
}

bool is_full_member(const struct check_context *s, const struct group *group,
                    const struct endport *port)
{
    const struct member *m = port ? groups_member(s->f->groups, group, port) : NULL;
    return m && m->join_state & JOIN_FULL;
}
