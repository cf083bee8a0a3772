/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the MCMemberRecords in requests to the SA and in its responses: updates groups and
 * memberships, and makes the events (model/events.h) that the checks receive.
 */
#include "model/sa_requests.h"
#include "model/sa_tables.h"

/*
 * May the response be one to an older request of the port? A later request may then have changed
 * the membership, though its response was not captured. If the later request was not captured
 * either, the PSNs of the port's GSI show a gap after the older one. A refusal may also belong to
 * an earlier copy of a repeated request, of which the last copy was granted. tid: of the response.
 * q: its request; NULL: not captured, so any gap may be later.
 */
static bool is_outdated(const struct member *m, uint64_t tid, const struct sa_request *q,
                        bool refused)
{
    const struct endport *p = m->endport;
    if (q ? p->gsi.gap_frame > q->frame : p->gsi.gap_frame || p->gsi.begins_late)
        return true;
    if (!m->pending)
        return false;
    return m->request != (uint16_t)tid || (q && refused && q->responses < q->sent);
}

static bool is_zero_gid(const uint8_t *gid)
{
    static const uint8_t zero[GID_SIZE];
    return !gid || memcmp(gid, zero, GID_SIZE) == 0;
}

/*
 * The port that joins or leaves: the one with this PortGID. If no LID of it is known yet, the
 * requester's LID is assumed to be its LID, which is right if the port itself sent the request.
 */
static struct endport *joining_port(const struct delivery *d, const uint8_t *gid,
                                    const struct port *requester)
{
    uint16_t lid = port_to_lid(*requester);
    if (is_zero_gid(gid))
        return delivery_endport(d, requester);
    struct endport *by_gid = endports_get_by_gid(d->s->endports, d->interface, gid, false);
    if (by_gid && by_gid->lid)
        return by_gid;
    return lid ? endports_learn(d->s->endports, d->interface, lid, gid)
               : endports_get_by_gid(d->s->endports, d->interface, gid, true);
}

/*
 * The port that queries the SA (Get), if it queries the group or its own membership; NULL if it
 * queries another port, which says nothing about the requester.
 */
static struct endport *querying_port(const struct delivery *d, const uint8_t *gid)
{
    uint16_t lid = port_to_lid(*d->src);
    if (is_zero_gid(gid))
        return delivery_endport(d, d->src);
    struct endport *p = endports_get_by_gid(d->s->endports, d->interface, gid, false);
    return p && (!lid || endport_has_lid(p, lid)) ? p : NULL;
}

static struct member *member_of(const struct delivery *d, const struct subnet_event *e)
{
    return groups_get_member(d->s->groups, group_to_write(e), endport_to_write(e), true);
}

static void note_join(const struct subnet_event *e)
{
    if (e->group && group_is_broadcast(e->group))
        endport_joins(endport_to_write(e), be16(e->group->mgid + MGID_PKEY));
}

/*
 * Record in which frame a request from the port's own LID last named the port's GID, which confirms
 * both. 0 if the request came from another LID: the GID may have moved there, the LID may be
 * another port's, or that port joins or leaves on behalf of this one. If the port moved, its
 * requests from the other LID are not followed.
 */
static void name_endport(const struct delivery *d, struct endport *p)
{
    bool own = endport_has_lid(p, port_to_lid(*d->src));
    p->named_frame = own ? d->frame : 0;
    if (!own)
        p->gsi.gap_frame = d->frame;
}

/*
 * The port p joins or leaves from a LID of another port that has not named itself. It may be a
 * virtual function of that port. But if the SMPs that gave p the LID were not captured, the packets
 * from the LID are those of p by now: they do not show what the other port sent.
 */
static void doubt_owner(const struct delivery *d, const struct endport *p)
{
    uint16_t lid = port_to_lid(*d->src);
    struct endport *owner = lid ? endports_get_by_lid(d->s->endports, d->interface, lid, false)
                                : NULL;
    if (owner && owner != p && endport_has_gid(owner) && !owner->named_frame)
        owner->gsi.gap_frame = d->frame;
}

enum { FIRST_TID = 0x1fff }; /* the bits of struct group, first_tid */

/* The response to the first join request would be the first record that a port received. */
static void note_join_request(struct group *g, uint64_t tid)
{
    g->waits = true;
    if (g->records || g->first_unanswered)
        return;
    g->first_tid = tid & FIRST_TID;
    g->first_unanswered = true;
}

static void note_response(struct group *g, const struct sa_request *q)
{
    if (q->frame >= g->join_request_frame)
        g->waits = false;
    if ((q->tid & FIRST_TID) == g->first_tid)
        g->first_unanswered = false;
}

static void member_request(const struct delivery *d, const struct sa *sa, const struct mc_member *r,
                           enum subnet_event_kind kind)
{
    struct sa_request *q = sa_requests_add(d, sa);
    struct subnet_event e = {.kind = kind, .request = q, .member_record = *r, .record = sa->data.p};
    q->join_state = sa_component_is_valid(sa, MCM_HAS_JOIN_STATE) ? r->join_state : 0;
    q->mtu_selector = sa_component_is_valid(sa, MCM_HAS_MTU_SELECTOR) ? r->mtu_selector : 0;
    q->mtu = sa_component_is_valid(sa, MCM_HAS_MTU) ? r->mtu : 0;
    q->rate_selector = sa->data.p[MCM_RATE] >> 6;
    q->life_selector = sa->data.p[MCM_LIFE] >> 6;
    q->wanted = *r;
    q->wanted.mgid = q->wanted.port_gid = NULL; /* the packet has them */
    if (!sa_component_is_valid(sa, MCM_HAS_MGID))
        return;
    e.group = q->group = groups_get(d->s->groups, d->interface, r->mgid, true);
    const uint8_t *gid = sa_component_is_valid(sa, MCM_HAS_PORT_GID) ? r->port_gid : NULL;
    e.endport = q->endport = kind == SUBNET_GROUP_ASKED ? querying_port(d, gid)
                                                        : joining_port(d, gid, d->src);
    if (kind == SUBNET_GROUP_ASKED) {
        struct member *m = e.group && e.endport ? member_of(d, &e) : NULL;
        if (m)
            m->queried = true;
        return;
    }
    if (gid && e.endport) {
        name_endport(d, endport_to_write(&e));
        doubt_owner(d, e.endport);
    }
    if (e.group && kind == SUBNET_JOIN_ASKED) {
        group_to_write(&e)->join_request_frame = d->frame;
        note_join_request(group_to_write(&e), sa->mad.tid);
    }
    if (e.endport && kind == SUBNET_JOIN_ASKED)
        note_join(&e);
    struct member *m = e.group && e.endport ? member_of(d, &e) : NULL;
    e.member = m;
    if (m) {
        e.join_state_before = member_is_known(m) ? m->join_state : 0;
        e.pending_before = m->pending && m->request != (uint16_t)sa->mad.tid;
        m->unanswered |= e.pending_before;
        m->pending = true;
        m->request = (uint16_t)sa->mad.tid;
    }
    delivery_event(d, &e);
}

/*
 * Does this response of the SA start a new membership? Then m->reported_ns, the time of the first
 * IGMP or MLD report, is cleared: the time in which a listener must join as FullMember does not
 * count from a report of an earlier membership.
 */
static bool begins_membership(const struct member *m, uint8_t join_state)
{
    const struct endport *p = m->endport;
    bool may_have_ended = m->frame <= p->gsi.gap_frame || m->frame <= p->initialised_frame ||
                          m->frame <= p->reregister_frame || m->frame <= m->group->deleted_frame;
    bool loses_full = m->join_state & JOIN_FULL && !(join_state & JOIN_FULL);
    return !join_state || !m->join_state || loses_full || may_have_ended;
}

static void forget_report(struct member *m)
{
    m->reported_ns = 0;
    if (!group_is_broadcast(m->group))
        m->stopped_frame = 0;
}

/* The request of a response that was captured twice may be forgotten by then. */
static uint32_t join_mask(const struct member *m, const struct subnet_event *e, uint8_t join_state)
{
    if (e->request)
        return (uint32_t)MIN(e->request->mask, JOIN_MASK_MAX);
    return m->join_state == join_state ? m->join_mask : 0;
}

/* The SA may report that a group was deleted before it answers the last member's leave. */
static void count_member(struct group *g, const struct member *m, uint8_t join_state,
                         uint32_t frame)
{
    g->members += join_keeps_group(join_state) - join_keeps_group(m->join_state);
    if (!join_keeps_group(m->join_state) || g->members)
        return;
    g->last_left_frame = frame;
    if (g->deleted_frame > MAX(g->record_frame, g->join_request_frame))
        g->state = GROUP_DELETED;
}

/* tid: of the SA's response. */
static void set_member(const struct delivery *d, struct subnet_event *e, uint64_t tid,
                       uint8_t join_state, bool refused)
{
    if (!e->group || !e->endport)
        return;
    struct member *m = member_of(d, e);
    e->member = m;
    if (!m)
        return;
    e->join_state_before = m->join_state;
    e->left_before = m->frame && m->join_state == 0 && !m->refused;
    if (!refused && join_state)
        note_join(e);
    if (!refused) {
        m->unanswered = false;
        if (begins_membership(m, join_state))
            forget_report(m);
        if (join_state)
            m->join_mask = join_mask(m, e, join_state);
        count_member(group_to_write(e), m, join_state, d->frame);
        m->join_state = join_state;
        m->sees_none &= !join_state;
        if (m->mlid != e->group->mlid) /* not for a response that was captured twice */
            m->mlid_before = m->mlid;
        m->mlid = e->group->mlid;
    }
    if (refused)
        forget_report(m);
    m->refused = refused;
    m->pending = is_outdated(m, tid, e->request, refused);
    m->frame = d->frame;
}

/*
 * Set the group and endport of a response. A refusal may leave out the record, so they come from
 * the request. The response to a Get may be about any port, and so may a response without a known
 * request.
 */
static void find_entity(const struct delivery *d, const struct sa *sa, const struct mc_member *r,
                        struct subnet_event *e)
{
    if (e->request && e->request->group && sa->mad.status != 0) {
        e->group = e->request->group;
        e->endport = e->request->endport;
        return;
    }
    e->group = groups_get(d->s->groups, d->interface, r->mgid, true);
    bool own = is_zero_gid(r->port_gid) || (e->request && e->request->method != SA_GET);
    e->endport = own ? joining_port(d, r->port_gid, d->dst)
                     : endports_get_by_gid(d->s->endports, d->interface, r->port_gid, true);
}

/*
 * Records that the group does not exist, if the status of a response means that: no records
 * (0x0300), or insufficient components, with which the SA refuses to create it (0x0600). Ignored if
 * a later response showed the group. The group is unconfirmed, not missing, if a later request is
 * open that may have created it.
 */
static void missing(const struct delivery *d, const struct subnet_event *e, uint16_t status)
{
    struct group *group = group_to_write(e);
    const struct sa_request *q = e->request;
    if (status != SA_STATUS_NO_RECORDS && status != SA_STATUS_INSUFFICIENT_COMPONENTS)
        return;
    if (group->state == GROUP_PRESENT && group->frame > q->frame)
        return;
    bool requested_later = group->join_request_frame > q->frame || q->responses < q->sent;
    group->state = requested_later ? GROUP_UNCONFIRMED : GROUP_MISSING;
    group->frame = d->frame;
    struct member *m = e->endport ? member_of(d, e) : NULL;
    if (m)
        m->sees_none = true;
}

/*
 * Did the Get request more than the group, such as a port's membership? Then "no records" does not
 * mean that the group does not exist.
 */
static bool requests_more(const struct sa_request *q)
{
    return q && q->method == SA_GET && (q->mask & ~(uint64_t)MCM_HAS_MGID);
}

/*
 * The port that received a record about itself; NULL: not known, or the record is about another
 * port.
 */
static struct endport *receiver(const struct delivery *d, const struct subnet_event *e)
{
    uint16_t lid = port_to_lid(*d->dst);
    return lid && e->endport && endport_has_lid(e->endport, lid) ? endport_to_write(e) : NULL;
}

/* The first port that receives a group's record may have created the group. */
static void note_creator(const struct delivery *d, const struct subnet_event *e)
{
    struct group *g = group_to_write(e);
    const struct group *b = groups_broadcast(d->s->groups, d->interface, be16(g->mgid + MGID_PKEY),
                                             group_scope(g));
    if (g->since_frame == d->frame)
        g->creator_may_differ = b && event_may_have_other_parameters(d->s->groups, e, b);
}

/*
 * A response to a Set (a join) and one to a Get have the same method, GetResp. The captured request
 * with its transaction ID shows which of the two it is; without it, it counts as one to a Get.
 */
static void member_get_response(const struct delivery *d, const struct sa *sa,
                                const struct mc_member *r)
{
    struct subnet_event e = {.member_record = *r, .record = sa->data.p};
    e.request = sa_requests_responded(d, sa, SA_SET);
    bool join = e.request != NULL;
    if (!join)
        e.request = sa_requests_responded(d, sa, SA_GET);
    find_entity(d, sa, r, &e);
    if (!e.group || (sa->mad.status == SA_STATUS_NO_RECORDS && requests_more(e.request)))
        return;
    if (join)
        note_response(group_to_write(&e), e.request);
    if (sa->mad.status == 0)
        group_informed(group_to_write(&e), r, receiver(d, &e), d->frame);
    else if (e.request) /* without the request, it may have been for more than the group */
        missing(d, &e, sa->mad.status);
    if (sa->mad.status == 0 && (join || r->join_state)) {
        e.kind = join ? SUBNET_JOINED : SUBNET_GROUP_RECORD;
        set_member(d, &e, sa->mad.tid, r->join_state, false);
    } else if (sa->mad.status == 0) {
        e.kind = SUBNET_GROUP_RECORD;
    } else if (join) {
        e.kind = SUBNET_JOIN_REFUSED;
        if (e.group->join_request_frame <= e.request->frame)
            group_to_write(&e)->join_request_frame = 0;
        set_member(d, &e, sa->mad.tid, 0, true);
    } else {
        e.kind = SUBNET_GROUP_MISSING;
    }
    if (e.kind == SUBNET_JOINED || e.kind == SUBNET_GROUP_RECORD)
        note_creator(d, &e);
    delivery_event(d, &e);
}

/*
 * Does the response to a leave have the JoinState that remains? The SA of OpenSM sets it so; other
 * SAs, such as those of QLogic and Intel, return the record of the request. It is that one if it
 * has a bit that the port gave up.
 */
static bool has_remaining_state(const struct subnet_event *e, const struct mc_member *r)
{
    return !e->request || !(r->join_state & e->request->join_state);
}

/* Is the JoinState before the leave known, but for the leave itself? */
static bool is_known_before(const struct member *m)
{
    const struct endport *p = m->endport;
    return m->frame > MAX(p->gsi.gap_frame, MAX(p->initialised_frame, p->reregister_frame)) &&
           !m->unanswered;
}

/* What remains is the JoinState before without the bits of the request. */
static void set_remaining(const struct delivery *d, struct subnet_event *e, const struct sa *sa)
{
    struct member *m = e->group && e->endport ? member_of(d, e) : NULL;
    if (!m)
        return;
    bool known = is_known_before(m);
    uint8_t before = known ? m->join_state : JOIN_ALL, given_up = e->request->join_state;
    set_member(d, e, sa->mad.tid, (uint8_t)(before & ~given_up), false);
    m->pending |= !known;
}

static void member_delete_response(const struct delivery *d, const struct sa *sa,
                                   const struct mc_member *r)
{
    struct subnet_event e = {.kind = SUBNET_LEFT, .member_record = *r, .record = sa->data.p};
    e.request = sa_requests_responded(d, sa, SA_DELETE);
    find_entity(d, sa, r, &e);
    if (sa->mad.status != 0)
        e.kind = SUBNET_LEAVE_REFUSED;
    else if (has_remaining_state(&e, r))
        set_member(d, &e, sa->mad.tid, r->join_state, false);
    else
        set_remaining(d, &e, sa);
    delivery_event(d, &e);
}

/* A response to GetTable. request_frame: its request; 0: not known. */
struct table_reader {
    const struct delivery *d;
    uint32_t request_frame;
};

/*
 * One record of a table. It updates the group unless a message after the table's request was
 * already about this group: the SA may have made the table when it received the request. A split
 * record then has an event without a group: convert --share needs the bytes of the segment before.
 */
static void table_record(void *user, const uint8_t *record, const struct split_record *split)
{
    const struct table_reader *t = user;
    const struct delivery *d = t->d;
    struct mc_member r = mc_member_read(record);
    struct subnet_event e = {.kind = SUBNET_GROUP_RECORD, .member_record = r, .record = record};
    if (split)
        e.split = *split;
    struct group *group = groups_get(d->s->groups, d->interface, r.mgid, true);
    if (group && (group->frame <= t->request_frame || group->frame == d->frame)) {
        e.group = group;
        group_informed(group, &r, NULL, d->frame);
    }
    if (e.group || split)
        delivery_event(d, &e);
}

static void member_table(const struct delivery *d, const struct sa *sa)
{
    const struct sa_request *q = sa_requests_responded(d, sa, SA_GET_TABLE);
    struct table_reader reader = {d, q && q->sent == 1 ? q->frame : 0};
    if (sa->mad.status == 0)
        sa_tables_read(d->s->tables, d->dst, sa, MCM_SIZE, table_record, &reader);
}

void learn_member_records(const struct delivery *d, const struct sa *sa)
{
    if (sa->rmpp_type > RMPP_TYPE_DATA) /* an acknowledgement has no record */
        return;
    if (sa->mad.method == SA_GET_TABLE)
        sa_requests_add(d, sa);
    if (sa->mad.method == SA_GET_TABLE_RESP) {
        member_table(d, sa);
        return;
    }
    if (view_has(sa->data, 0, MCM_SIZE) != WIRE_OK)
        return;
    struct mc_member r = mc_member_read(sa->data.p);
    switch (sa->mad.method) {
    case SA_SET:
        member_request(d, sa, &r, SUBNET_JOIN_ASKED);
        break;
    case SA_DELETE:
        member_request(d, sa, &r, SUBNET_LEAVE_ASKED);
        break;
    case SA_GET:
        member_request(d, sa, &r, SUBNET_GROUP_ASKED);
        break;
    case SA_GET_RESP:
        member_get_response(d, sa, &r);
        break;
    case SA_DELETE_RESP:
        member_delete_response(d, sa, &r);
        break;
    }
}
