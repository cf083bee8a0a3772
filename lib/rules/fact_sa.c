/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of subnet administration: requests of the ports, and what the SA said. A request, or a
 * response to it, can outdate them. The PSNs of the ports' GSIs show lost ones.
 */
#include "rules/certainty.h"

/* ---- memberships and requests of a port */

static const char *const no_join_seen = "the port's join was not captured";

/* What the membership lacks to be known (member_is_known()). */
static const char *why_no_member(const struct member *m)
{
    if (!m || (!m->frame && !m->pending))
        return no_join_seen;
    if (m->pending)
        return "no response of the SA to the port's request was captured before";
    if (m->frame <= m->endport->gsi.gap_frame)
        return "a packet of the port's GSI (QP1) was not captured since its join";
    if (!endport_requests_are_complete_since(m->endport, m->frame))
        return "no packet of the port's GSI (QP1) was captured before the SA's response";
    return "the port was brought up, or asked to join, again: its join since was not captured";
}

/*
 * No request of the port after the frame `since`, from QP1 or from another queue pair: a program,
 * or the driver for another partition, may send requests that the PSNs of the port's QP1 do not
 * show. If the capture point sees all packets of the SA, the PSNs of its QP1 show the responses.
 */
static struct certainty no_request_of(const struct check_context *s, const struct endport *port,
                                      uint32_t since)
{
    const struct sa_sequence *q = subnet_sa_sequence(s->f->subnet, s->p->at.interface);
    if (!q || !sa_sequence_is_shown(q))
        return certain_at(FACT_AT_REQUEST, port);
    if (!sa_sequence_is_whole_since(q, since))
        return uncertain("a response of the SA may not have been captured: a program may have sent "
                         "the request");
    return (struct certainty){.when = FACT_AT_RESPONSE, .port = port, .since = since};
}

/*
 * The same, unless the SA's own port has an interface: the responses to its requests are never on
 * the wire, but have PSNs. Then only the PSNs of the port's QP1 count.
 */
struct certainty no_request_since(const struct check_context *s, const struct endport *port,
                                  uint32_t since)
{
    const struct sa_sequence *q = subnet_sa_sequence(s->f->subnet, s->p->at.interface);
    return q && q->has_interface ? certain_at(FACT_AT_REQUEST, port)
                                 : no_request_of(s, port, since);
}

struct certainty no_request_before_own(const struct check_context *s, const struct endport *port,
                                       uint32_t since)
{
    struct certainty c = no_request_since(s, port, since);
    if (c.when == FACT_AT_REQUEST)
        return certain();
    if (c.when == FACT_AT_RESPONSE)
        c.when = FACT_AT_SA;
    return c;
}

/*
 * If c is uncertain, can only a packet that was not captured have changed the JoinState in the SA's
 * last response? Not a start of the port or of its interface, or a request to join again.
 */
static struct certainty captured_member(const struct check_context *s, const struct member *m,
                                        struct certainty c)
{
    bool captured = m && !m->refused && member_seems_known(m) &&
                    !order_is_uncertain(&s->f->order, m->frame) &&
                    !has_joined_since(s, m->endport, be16(m->group->mgid + MGID_PKEY), m->frame);
    return captured_in(captured ? m->frame : 0, c);
}

/*
 * If c is uncertain, can only a join that was not captured have made the port a member? The SA
 * refused its last one, and has answered each since the last granted one.
 */
static struct certainty captured_refusal(const struct check_context *s, const struct member *m,
                                         struct certainty c)
{
    bool captured = m && m->refused && !m->unanswered && member_seems_known(m) &&
                    !order_is_uncertain(&s->f->order, m->frame);
    return captured_in(captured ? m->frame : 0, c);
}

static const char *const refused_before =
    "the SA refused a join, but an earlier one may not have been captured";

struct certainty certainty_membership(const struct check_context *s, const struct fact *f)
{
    bool known = f->port && f->member && member_is_known(f->member) &&
                 endport_requests_are_complete_since(f->port, f->member->frame);
    return captured_member(s, f->member,
                           known ? no_request_since(s, f->port, f->member->frame)
                                 : uncertain(why_no_member(f->member)));
}

/*
 * A refused join changes nothing: the port is still a member if it joined before (IBA 15.2.5.17).
 * So all of its requests since its start, and the SA's responses to them, must be known. If the
 * SA's own port has an interface, the PSNs of the SA do not show whether a response is missing. The
 * port's leave and its datagram are captured in order, unless one of two capture points has lost
 * the datagram.
 */
struct certainty certainty_no_membership(const struct check_context *s, const struct fact *f)
{
    struct certainty by_request = certainty_membership(s, f);
    if (by_request.when == FACT_UNCERTAIN)
        return f->member->refused ? captured_refusal(s, f->member, by_request) : by_request;
    if (!f->member->refused) {
        struct certainty left = captured_member(s, f->member,
                                                no_request_of(s, f->port, f->member->frame));
        left.copy = order_has_copies(&s->f->order) &&
                    order_is_uncertain(&s->f->order, f->member->frame);
        return left;
    }
    if (f->member->unanswered)
        return uncertain(
            "the SA refused a join, but its response to an earlier one was not captured");
    if (!endport_requests_are_complete_since_start(f->port))
        return captured_refusal(s, f->member, uncertain(refused_before));
    const struct sa_sequence *q = subnet_sa_sequence(s->f->subnet, s->p->at.interface);
    bool shows_responses = !q || !q->has_interface;
    return captured_refusal(
        s, f->member,
        no_request_of(s, f->port, shows_responses ? f->port->new_frame : f->member->frame));
}

/*
 * The request is itself a GSI packet: its PSN already shows that no request is missing since the
 * membership's response, unless it is the first one captured of its port.
 */
struct certainty certainty_joined_before(const struct check_context *s, const struct fact *f)
{
    const struct member *m = f->event->member;
    if (!f->event->join_state_before)
        return uncertain(no_join_seen);
    if (!endport_requests_are_complete_since(m->endport, m->frame))
        return uncertain("no packet of the port's GSI (QP1) was captured before the SA's response");
    if (order_is_uncertain(&s->f->order, m->frame))
        return uncertain("its join and its leave are too close to each other");
    return no_request_before_own(s, m->endport, m->frame);
}

struct certainty certainty_no_join(const struct check_context *s, const struct fact *f)
{
    const struct member *m = f->member;
    if (m && m->pending)
        return uncertain(why_no_member(m));
    if (!requests_are_complete(f->port))
        return captured_refusal(
            s, m, uncertain(m && m->refused ? refused_before : why_not_complete(f->port)));
    if (f->since_start && !endport_requests_are_complete_since_start(f->port))
        return uncertain("the SMPs that gave the port its first LID were not captured");
    if (m && !m->queried && !m->refused)
        return uncertain(why_no_member(m));
    return captured_refusal(
        s, m,
        no_request_since(s, f->port,
                         f->since_start ? f->port->new_frame : f->port->initialised_frame));
}

/*
 * The response to a join has the port's whole JoinState, also the bits of joins before the capture
 * (IBA 15.2.5.17, o15-0.1.11). The port may have joined a link of another scope before the capture.
 */
struct certainty certainty_join_state(const struct check_context *s, const struct fact *f)
{
    const struct member *m = f->member;
    bool named = f->scope && endports_gid_is_confirmed(s->f->endports, f->port);
    bool known = m && member_is_known(m) && (named || requests_are_complete(f->port));
    return captured_member(s, f->scope ? m : NULL,
                           known ? no_request_since(s, f->port, m->frame)
                                 : uncertain(no_join_seen));
}

/* A port that asks to join has joined the link of another scope in a captured packet. */
struct certainty certainty_no_other_link(const struct check_context *s, const struct fact *f)
{
    bool asks = s->p->classification.class == PAYLOAD_MAD && f->port;
    const struct member *m = asks ? groups_member(s->f->groups, f->group, f->port) : NULL;
    if (!f->port)
        return uncertain("no captured join shows on which link the port is that chose the scope");
    if (!requests_are_complete(f->port))
        return captured_in(m ? m->frame : 0, uncertain(why_not_complete(f->port)));
    return (s->p->classification.class == PAYLOAD_MAD ? no_request_before_own : no_request_since)(
        s, f->port, f->port->initialised_frame);
}

/*
 * The port ended a subscription in a captured frame, or the SA refused one, and it did not
 * subscribe again.
 */
static struct certainty captured_end(const struct check_context *s, const struct endport *port,
                                     struct certainty c)
{
    uint32_t frame = port ? port->unsubscribed_frame : 0;
    bool captured = frame && frame > MAX(port->initialised_frame, port->reregister_frame) &&
                    !order_is_uncertain(&s->f->order, frame);
    return captured_in(captured ? frame : 0, c);
}

struct certainty certainty_subscriptions(const struct check_context *s, const struct fact *f)
{
    const uint8_t both = SUBSCRIBED_CREATED | SUBSCRIBED_DELETED;
    if (!requests_are_complete(f->port))
        return captured_end(s, f->port, uncertain(why_not_complete(f->port)));
    if ((f->port->subscribed | f->port->subscribing) == both)
        return uncertain("the SA's response to its subscription was not captured");
    if ((f->port->subscribed | f->port->subscribing | f->port->subscribed_before) == both)
        return uncertain("it subscribed before the SM brought it up again: the SA may have kept "
                         "the subscription");
    return captured_end(s, f->port, no_request_since(s, f->port, f->port->initialised_frame));
}

/* ---- parameters of the broadcast group */

/*
 * The joins of the SA's own port are never captured. It is taken to have the current parameters if
 * no change of them was seen or may have been missed, and if the group's whole history is known or
 * the QP has used the group's Q_Key before.
 */
static bool sa_may_use_older_parameters(const struct check_context *s,
                                        const struct group *broadcast)
{
    const struct qp *qp = s->e->has_sender_qp ? &s->e->sender_qp : NULL;
    bool uses = qp && qp->pkey == s->p->ib.pkey && qp->qkey == broadcast->qkey &&
                s->p->ib.qkey != broadcast->qkey;
    uint32_t doubt = fabric_doubt(s->f, broadcast).last_frame;
    return broadcast->changed_frame || broadcast->waits || doubt > broadcast->frame ||
           !(uses || fabric_knows_history(s->f, broadcast));
}

/* Why the sender may use other parameters than those of the group's record; NULL: it may not. */
static const char *why_older_parameters(const struct check_context *s,
                                        const struct group *broadcast)
{
    const char *not_captured = "the sender's join with its parameters was not captured";
    if (s->f->records_are_current)
        return broadcast->changed_frame ? not_captured : NULL;
    const struct endport *sender = sending_port(s);
    const struct member *m = sender ? groups_member(s->f->groups, broadcast, sender) : NULL;
    bool followed = sender && endport_requests_are_complete(sender);
    if (sending_scope(s) == 0 && !followed) /* the link may have another scope */
        return not_captured;
    if (is_sa(s)) /* a lost join of another port may have shown a change */
        return sa_may_use_older_parameters(s, broadcast) ? not_captured : NULL;
    bool left = m && !m->join_state; /* it may have joined another link since */
    if (!m || left || !member_is_known(m) || m->frame < broadcast->changed_frame)
        return not_captured;
    /* a packet sent before the second join has the parameters of the first, if it had others */
    bool other = m->mlid_before || !fabric_knows_history(s->f, broadcast);
    return other && order_is_uncertain(&s->f->order, m->frame)
               ? "it may have been sent just before the captured join, with an earlier one's "
                 "parameters"
               : NULL;
}

/* The frame of the only record that the SA sent of the group, as often as it did; 0: it changed. */
static uint32_t steady_record(const struct group *g)
{
    return g->state == GROUP_PRESENT && !g->changed_frame ? g->record_frame : 0;
}

/*
 * A datagram to another group than the broadcast group is compared with the records and datagrams
 * of all groups, if it was sent after the record (rules/suspicions/group_traffic.h).
 */
static bool is_compared_with_traffic(const struct check_context *s, const struct group *g)
{
    return !group_is_broadcast(g) && !order_is_uncertain(&s->f->order, g->record_frame);
}

struct certainty certainty_parameters(const struct check_context *s, const struct fact *f)
{
    const char *why = why_older_parameters(s, f->group);
    bool is_compared = why && is_compared_with_traffic(s, f->group);
    uint32_t record = is_compared ? 0 : steady_record(f->group);
    if (why)
        return captured_in(record, uncertain(why));
    if (s->f->records_are_current)
        return certain();
    return captured_in(record, is_sa(s)
                                   ? (struct certainty){.when = FACT_AT_MEMBER, .group = f->group}
                                   : certain_at(FACT_AT_REQUEST, sending_port(s)));
}

/*
 * Has the SA sent no record of the group? Every packet of the SA must have been captured since its
 * start, or since it said that the group does not exist; they are captured in their order.
 */
static bool has_no_record(const struct check_context *s, const struct group *g)
{
    const struct sa_sequence *q = subnet_sa_sequence(s->f->subnet, s->p->at.interface);
    uint32_t since = g->state == GROUP_MISSING ? g->frame : 0;
    bool complete = since && q && !q->has_interface && sa_sequence_is_shown(q) &&
                    sa_sequence_is_whole_since(q, since);
    return complete || (q && sa_sequence_is_whole(q));
}

/*
 * A Report that the group was created, after a port that has the broadcast group's attributes asked
 * to join and the SA sent the first record of it: was it created after those attributes were
 * captured, so that it is no matter what they were before?
 */
static bool is_just_created(const struct check_context *s, const struct subnet_event *e)
{
    const struct group *g = &e->group_facts, *b = &e->broadcast_facts;
    uint32_t asked = MIN(g->join_request_frame, g->since_frame);
    return e->kind == SUBNET_GROUP_CREATED && steady_record(b) && g->records == 1 &&
           b->since_frame < asked && !order_is_uncertain(&s->f->order, b->since_frame) &&
           g->informed &&
           !groups_port_may_differ(s->f->groups, e->broadcast, endport_of(g->informed));
}

struct certainty certainty_created_with(const struct check_context *s, const struct fact *f)
{
    const struct subnet_event *e = f->event;
    bool changed = !(fabric_knows_history(s->f, &e->broadcast_facts) || is_just_created(s, e)) ||
                   event_may_have_other_parameters(s->f->groups, e, e->broadcast);
    bool has_record = e->kind != SUBNET_JOIN_REFUSED;
    uint32_t frame = has_record ? steady_record(&e->broadcast_facts) : 0;
    if (e->group->first_unanswered || (has_record && e->group->creator_may_differ))
        return captured_in(
            frame, uncertain("the port that created the group may have had other attributes of the "
                             "broadcast group: not all of its requests and responses were "
                             "captured"));
    if (!has_record && !has_no_record(s, e->group))
        return uncertain("a record of the group may not have been captured: it may exist");
    return captured_in(frame, certain_if(!changed,
                                         "the broadcast group's attributes may have changed; this "
                                         "group may have those before"));
}

struct certainty certainty_group_mtu(const struct check_context *s, const struct fact *f)
{
    (void)s;
    return certain_if(f->group->state == GROUP_PRESENT,
                      "the SA's record of the broadcast group was not captured");
}

/* ---- groups */

/*
 * May the SA have given the sender another MLID? A restarted subnet manager assigns new MLIDs; a
 * member that has not joined again since uses the old one and cannot know better. If all members
 * have left, the group was deleted, and this does not apply.
 */
static bool may_have_another_mlid(const struct check_context *s, const struct fact *f)
{
    const struct member *m = f->member;
    uint16_t dlid = s->p->ib.dlid;
    if (!m || !m->frame)
        return f->group->records > 1 || is_sa(s) || (m && m->pending) ||
               !requests_are_complete(f->port);
    bool on_its_way = m->mlid_before == dlid && order_is_uncertain(&s->f->order, m->frame);
    return !member_is_known(m) || on_its_way ||
           (m->mlid == dlid && m->frame > f->group->last_left_frame);
}

struct certainty certainty_mlid(const struct check_context *s, const struct fact *f)
{
    return may_have_another_mlid(s, f) ? uncertain("a join in which the SA gave the sender "
                                                   "another MLID may not have been captured")
                                       : certain_at(FACT_AT_REQUEST, f->port);
}

/*
 * Is every membership known? Then the deletion that the SA reported is certain: the members that
 * are known have left, and after that no port joined (group_may_exist()).
 */
static bool knows_all_members(const struct check_context *s)
{
    const struct sa_sequence *q = subnet_sa_sequence(s->f->subnet, s->p->at.interface);
    return s->f->records_are_current || (q && sa_sequence_is_whole(q));
}

static const char *const late_report =
    "the Report of its deletion may be late: a join since may not have been captured";

/*
 * Frame since which no request of the port was captured that made it a member: the end of its
 * membership, or its start if it never asked to join. 0: it is a member, or this is not known.
 */
static uint32_t no_member_since(const struct endport *port, const struct member *m)
{
    if (!port || (m && (m->pending || m->join_state || m->refused)))
        return 0;
    if (m && m->frame)
        return member_is_known(m) ? m->frame : 0;
    return endport_requests_are_complete_since_start(port) ? port->new_frame : 0;
}

/*
 * A Report of the deletion may be late, and about an earlier deletion. It counts if all memberships
 * are known, or if the sender is no member: then it knows of no later group. NULL: it counts; else
 * what is missing. no_member: no_member_since() of the sender.
 */
static const char *why_not_deleted(const struct check_context *s, const struct group *g,
                                   uint32_t no_member)
{
    if (order_is_uncertain(&s->f->order, g->deleted_frame))
        return "it was deleted a moment ago";
    return no_member || knows_all_members(s) ? NULL : late_report;
}

/*
 * The SA lost the group, as after a restart or a failover: a port that joined it before does not
 * know that until it registers again. false: the port has never joined it, has left it, or the SA
 * told it.
 */
static bool may_be_member(const struct endport *port, const struct member *m)
{
    return !(m && m->sees_none) && !no_member_since(port, m);
}

static const char *const older_member =
    "the sender may have joined the group before the SA lost it";

static const char *const creation_unseen =
    "a request that created it again may not have been captured";

/*
 * The SA reported the absence of a group in this frame. If c is uncertain, did the capture see the
 * requests of the sender before, so that one that created the group again was lost?
 */
static struct certainty captured_absence(const struct check_context *s, const struct endport *port,
                                         uint32_t frame, struct certainty c)
{
    bool captured = port && port->gsi.first_frame && port->gsi.first_frame <= frame && !is_sa(s) &&
                    frame > MAX(port->initialised_frame, port->reregister_frame) &&
                    !order_is_uncertain(&s->f->order, frame);
    return captured_in(captured ? frame : 0, c);
}

/*
 * Requests that were not captured may have created the group again. A sender that knows of it has
 * joined it since, so the sender's next request decides.
 */
struct certainty certainty_group_absent(const struct check_context *s, const struct fact *f)
{
    const struct group *g = f->group;
    bool deleted = g->state == GROUP_DELETED;
    const struct member *m = f->port ? groups_member(s->f->groups, g, f->port) : NULL;
    uint32_t no_member = deleted ? no_member_since(f->port, m) : 0;
    if (!group_is_absent(g))
        return uncertain("the SA's record of the group was not captured");
    const char *missing = deleted ? why_not_deleted(s, g, no_member) : NULL;
    if (missing)
        return captured_absence(s, m && m->sees_none ? f->port : NULL, g->frame,
                                uncertain(missing));
    if (deleted && m && m->join_state && !m->sees_none)
        return uncertain("the SA's Report of the deletion to the sender was not captured");
    if (s->f->records_are_current)
        return certain();
    if (!deleted && may_be_member(f->port, m))
        return uncertain(older_member);
    bool known = f->port && (no_member || endport_requests_are_complete_since(f->port, g->frame));
    return captured_absence(s, f->port, g->frame,
                            known && !is_sa(s)
                                ? no_request_since(s, f->port, no_member ? no_member : g->frame)
                                : uncertain(creation_unseen));
}

/* May the port be a member of a broadcast group of the partition that the SA lost? */
static bool may_be_on_link(const struct check_context *s, uint16_t pkey, const struct endport *port)
{
    for (const struct group *b = broadcasts_of(s, pkey); b; b = b->next)
        if (b->state == GROUP_MISSING && may_be_member(port, groups_member(s->f->groups, b, port)))
            return true;
    return false;
}

/*
 * As certainty_group_absent(): a port on the link has joined the broadcast group since it was
 * created again, so the port's next request decides.
 */
struct certainty certainty_no_broadcast(const struct check_context *s, const struct fact *f)
{
    uint32_t since;
    bool deleted;
    if (!lacks_broadcast(s, f->pkey, f->scope, &since, &deleted))
        return uncertain(
            "the SA's record of a broadcast group of another scope may not have been captured");
    if (order_is_uncertain(&s->f->order, since))
        return uncertain("it was deleted a moment ago");
    if (deleted && !knows_all_members(s))
        return uncertain(late_report);
    if (s->f->records_are_current)
        return certain();
    if (f->port && may_be_on_link(s, f->pkey, f->port))
        return uncertain(older_member);
    bool known = f->port && !is_sa_port(s, f->port) &&
                 endport_requests_are_complete_since(f->port, since);
    return captured_absence(s, f->port, since,
                            known ? no_request_since(s, f->port, since)
                                  : uncertain(creation_unseen));
}
