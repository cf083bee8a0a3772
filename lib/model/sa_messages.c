/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of the SA class (IBA 15.2). */
#include "model/subnet_state.h"
#include "model/sa_requests.h"

/*
 * Learn only ports of the own subnet: in a path through an InfiniBand router, the LID is the
 * router's (IBA 14.2.5.1.2).
 */
static void on_path(const struct delivery *d, const struct sa *sa)
{
    if (sa->mad.method == SA_GET)
        sa_requests_add(d, sa);
    if (sa->mad.method != SA_GET_RESP || sa->mad.status != 0 ||
        view_has(sa->data, 0, PATH_SIZE) != WIRE_OK)
        return;
    const uint8_t *p = sa->data.p;
    if (memcmp(p + PATH_DGID, p + PATH_SGID, 8) != 0)
        return;
    endports_learn(d->s->endports, d->interface, be16(p + PATH_SLID), p + PATH_SGID);
    struct subnet_event e = {.kind = SUBNET_PATH,
                             .record = p,
                             .request = sa_requests_responded(d, sa, SA_GET),
                             .mtu = p[PATH_MTU] & 0x3f};
    e.endport = endports_learn(d->s->endports, d->interface, be16(p + PATH_DLID), p + PATH_DGID);
    delivery_event(d, &e);
}

/* Which of the traps 66 and 67 does the InformInfo select, of all groups or of one? */
static uint8_t traps_of(const uint8_t *p)
{
    uint16_t trap = be16(p + INFORM_TRAP), type = be16(p + INFORM_TYPE);
    uint32_t producer = be24(p + INFORM_PRODUCER);
    uint8_t both = SUBSCRIBED_CREATED | SUBSCRIBED_DELETED;
    if (!p[INFORM_GENERIC] || (type != 0xffff && type != NOTICE_SUBNET_MANAGEMENT) ||
        (producer != 0xffffff && producer != NOTICE_CLASS_MANAGER))
        return 0;
    return trap == 0xffff               ? both
           : trap == TRAP_GROUP_CREATED ? SUBSCRIBED_CREATED
           : trap == TRAP_GROUP_DELETED ? SUBSCRIBED_DELETED
                                        : 0;
}

/* The MGID in an InformInfo selects one group, zero selects all of them (IBA 13.4.8.3). */
static bool is_about_one(const uint8_t *p)
{
    static const uint8_t all[GID_SIZE];
    return memcmp(p + INFORM_GID, all, GID_SIZE) != 0;
}

/* A port may be subscribed to several single groups, so one that it cancels changes nothing. */
static void learn_subscription(struct endport *port, const uint8_t *p, uint32_t frame)
{
    if (is_about_one(p))
        port->subscribed_to_one |= p[INFORM_SUBSCRIBE] ? traps_of(p) : 0;
    else if (p[INFORM_SUBSCRIBE]) {
        port->subscribed |= traps_of(p);
        if (traps_of(p))
            port->unsubscribed_frame = 0;
    } else if (traps_of(p)) {
        port->subscribed &= (uint8_t)~traps_of(p);
        port->subscribed_before &= (uint8_t)~traps_of(p);
        port->unsubscribed_frame = frame;
    }
}

/* Until it subscribes; the first refusal counts, as often as it is repeated. */
static void note_refusal(struct endport *port, uint8_t traps, uint32_t frame)
{
    bool counts = traps & ~port->subscribed;
    uint32_t since = MAX(port->initialised_frame, port->reregister_frame);
    if (counts && port->unsubscribed_frame <= since)
        port->unsubscribed_frame = frame;
}

static void inform_request(const struct delivery *d, const struct sa *sa)
{
    struct sa_request *q = sa_requests_add(d, sa);
    struct endport *p = delivery_endport(d, d->src);
    if (!sa->data.p[INFORM_SUBSCRIBE])
        return;
    q->traps = traps_of(sa->data.p);
    if (p)
        p->subscribing |= q->traps;
}

static void inform_response(const struct delivery *d, const struct sa *sa)
{
    struct subnet_event e = {.kind = SUBNET_SUBSCRIBED, .record = sa->data.p};
    e.request = sa_requests_responded(d, sa, SA_SET);
    struct endport *p = delivery_endport(d, d->dst);
    e.endport = p;
    if (p && e.request)
        p->subscribing &= (uint8_t)~e.request->traps;
    if (sa->mad.status != 0) {
        if (p && e.request)
            note_refusal(p, e.request->traps, d->frame);
        return;
    }
    if (p)
        learn_subscription(p, sa->data.p, d->frame);
    delivery_event(d, &e);
}

static void on_inform(const struct delivery *d, const struct sa *sa)
{
    if (view_has(sa->data, 0, INFORM_SIZE) != WIRE_OK)
        return;
    if (sa->mad.method == SA_SET)
        inform_request(d, sa);
    else if (sa->mad.method == SA_GET_RESP)
        inform_response(d, sa);
}

/* A Report of a deletion says nothing new about a group that is known to be absent. */
static enum group_state state_after(const struct group *g, uint16_t trap)
{
    if (trap != TRAP_GROUP_DELETED)
        return g->state == GROUP_PRESENT ? GROUP_PRESENT : GROUP_UNCONFIRMED;
    if (group_is_absent(g))
        return g->state;
    return group_may_exist(g) ? GROUP_UNCONFIRMED : GROUP_DELETED;
}

static void learn_deletion(const struct delivery *d, struct group *g)
{
    uint16_t lid = port_to_lid(*d->dst);
    struct endport *told = lid ? endports_get_by_lid(d->s->endports, d->interface, lid, false)
                               : NULL;
    struct member *m = told ? groups_get_member(d->s->groups, g, told, false) : NULL;
    g->deleted_frame = d->frame;
    if (m && g->state == GROUP_DELETED)
        m->sees_none = true;
}

static void on_report(const struct delivery *d, const struct sa *sa)
{
    if (sa->mad.method != SA_REPORT || view_has(sa->data, 0, NOTICE_SIZE) != WIRE_OK ||
        !(sa->data.p[NOTICE_GENERIC_TYPE] & 0x80))
        return;
    uint16_t trap = be16(sa->data.p + NOTICE_TRAP);
    if (trap != TRAP_GROUP_CREATED && trap != TRAP_GROUP_DELETED)
        return;
    struct subnet_event e = {.kind = trap == TRAP_GROUP_CREATED ? SUBNET_GROUP_CREATED
                                                                : SUBNET_GROUP_DELETED,
                             .record = sa->data.p};
    struct group *g = groups_get(d->s->groups, d->interface, sa->data.p + NOTICE_DETAILS_GID, true);
    e.group = g;
    if (g) {
        g->state = state_after(g, trap);
        g->frame = d->frame;
        if (trap == TRAP_GROUP_DELETED)
            learn_deletion(d, g);
    }
    delivery_event(d, &e);
}

static void watch_manager(const struct delivery *d, const struct sa *sa)
{
    struct manager *m = managers_get(d->s->managers, d->interface);
    uint16_t lid = port_to_lid(*d->src);
    /* the requester sends RMPP acknowledgements, also with the method of the response */
    if (!(sa->mad.method & MAD_RESPONSE) || sa->mad.method == SA_REPORT_RESP || lid == 0 ||
        sa->rmpp_type > RMPP_TYPE_DATA)
        return;
    uint16_t before = m->sa_lid;
    m->sa_lid = lid;
    if (before && before != lid) {
        m->sa_sequence = (struct sa_sequence){.gsi.gap_frame = d->frame};
        delivery_event(d, &(struct subnet_event){.kind = SUBNET_SA_MOVED, .lid = before});
    }
}

void learn_sa_message(const struct delivery *d, const struct sa *sa)
{
    watch_manager(d, sa);
    switch (sa->mad.attribute) {
    case SA_MC_MEMBER_RECORD:
        learn_member_records(d, sa);
        break;
    case SA_PATH_RECORD:
        on_path(d, sa);
        break;
    case SA_INFORM_INFO:
        on_inform(d, sa);
        break;
    case SA_NOTICE:
        on_report(d, sa);
        break;
    default:
        learn_port_records(d, sa);
    }
}
