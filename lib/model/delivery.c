/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events and ports of the message that is being processed. */
#include "model/subnet_state.h"

static bool lacks_request(const struct subnet_event *e)
{
    if (!e->request)
        return e->kind == SUBNET_GROUP_RECORD && e->endport;
    return e->request->responses > e->request->sent;
}

bool event_may_have_other_parameters(const struct groups *g, const struct subnet_event *e,
                                     const struct group *b)
{
    return b->waits || lacks_request(e) || (e->endport && groups_port_may_differ(g, b, e->endport));
}

static void add_facts(const struct delivery *d, struct subnet_event *e)
{
    bool compares = e->kind == SUBNET_JOINED || e->kind == SUBNET_JOIN_REFUSED ||
                    e->kind == SUBNET_GROUP_RECORD || e->kind == SUBNET_GROUP_CREATED;
    if (!e->group || !compares || !mgid_is_ipoib(e->group->mgid))
        return;
    e->group_facts = *e->group;
    e->broadcast = groups_broadcast(d->s->groups, d->interface, be16(e->group->mgid + MGID_PKEY),
                                    group_scope(e->group));
    if (e->broadcast)
        e->broadcast_facts = *e->broadcast;
}

void delivery_event(const struct delivery *d, struct subnet_event *e)
{
    if (!d->observer)
        return;
    e->interface = d->interface;
    add_facts(d, e);
    d->observer(d->user, e);
}

struct endport *delivery_endport(const struct delivery *d, const struct port *p)
{
    uint16_t lid = port_to_lid(*p);
    return lid ? endports_get_by_lid(d->s->endports, d->interface, lid, true) : NULL;
}
