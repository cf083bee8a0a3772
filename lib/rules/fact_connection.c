/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about connections: a CM message can outdate them. */
#include "rules/certainty.h"

/*
 * The end that left may have joined again at once. Its own GSI packet shows that it did not, or,
 * after one of its peer, the SA's next packet: no response to it is missing.
 */
static struct certainty not_joined_again(const struct check_context *s, const struct connection *c)
{
    const struct endport *left = c->endport[c->requester.left ? 0 : 1], *gsi = s->e->gsi;
    if (gsi && ((gsi == c->endport[0] && c->requester.left) ||
                (gsi == c->endport[1] && c->responder.left)))
        return certain();
    struct certainty by_sa = no_request_since(s, left, c->rep_frame);
    if (!gsi || by_sa.when != FACT_AT_RESPONSE)
        return certain_at(FACT_AT_REQUEST, left);
    by_sa.when = FACT_AT_SA;
    return by_sa;
}

/*
 * The port announced another QPN since. Does the interface of the connection still send? Then the
 * QPN is that of a second interface.
 */
static bool interface_goes_on(const struct check_context *s, const struct connection *c)
{
    bool requester = c->requester.left;
    const struct connection_side *left = requester ? &c->requester : &c->responder,
                                 *other = requester ? &c->responder : &c->requester;
    const struct endport *port = c->endport[requester ? 0 : 1];
    uint32_t frame, qpn = endport_ud_qpn(port, c->pkey, &frame);
    const struct qp *qp = qp_of_port(s, port, left->ud_qpn);
    return qpn && qpn != left->ud_qpn &&
           ((qp && qp->sequence.last_frame > frame) || other->flow.sequence.last_frame > frame);
}

/*
 * Was every GSI packet of both ends captured since the REP? A DREQ gets a response, so the next
 * packet of either end shows whether it was missed.
 */
const char *why_not_open(const struct check_context *s, const struct connection *c)
{
    for (unsigned i = 0; i < 2; i++)
        if (!c->endport[i] || !endport_requests_are_complete_since(c->endport[i], c->rep_frame))
            return "its DREQ may not have been captured";
    if (c->endport[c->requester.left ? 0 : 1]->several_interfaces || interface_goes_on(s, c))
        return "the port may have another interface, with the connection";
    return NULL;
}

struct certainty certainty_open(const struct check_context *s, const struct fact *f)
{
    const char *missing = why_not_open(s, f->connection);
    return missing ? uncertain(missing) : not_joined_again(s, f->connection);
}

/*
 * A REP is repeated until the RTU arrives (IBA 12.9.8), so this one may not be the first. The PSNs
 * of the responder's GSI show whether a packet of it is missing since the REQ. A port without a
 * LID, as in RoCE, is not followed.
 */
static bool may_have_missed_rep(const struct check_context *s, const struct connection *c)
{
    const struct endport *responder = s->e->gsi;
    bool gap = responder && responder->gsi.gap_frame >= c->req_frame;
    if (c->rep_before_req || gap)
        return true;
    uint32_t since = responder ? endport_gsi_since(responder) : 0;
    return since == 0 || since >= c->req_frame;
}

/*
 * The responder sent before the RTU. The PSNs show whether the requester's first RTU or data was
 * missed.
 */
static struct certainty sent_before_rtu(const struct connection *c)
{
    const struct endport *requester = c->endport[0];
    const struct sequence *data = &c->responder.flow.sequence;
    uint32_t since = requester ? endport_gsi_since(requester) : 0;
    if (since == 0 || since > c->req_frame)
        return uncertain("an earlier copy of the RTU may not have been captured");
    if (data->first_frame == 0)
        return uncertain("not proved at this packet: data of the requester may be missing");
    return certain_if(data->gap_frame == 0, "data of the requester may not have been captured");
}

/*
 * Data from the responder is captured in order with its REP, unless one of two capture points has
 * lost the REP: a copy of it shows that neither has. Data from the requester may be captured before
 * the REP although it was sent after it.
 */
struct certainty certainty_early_data(const struct check_context *s, const struct fact *f)
{
    const struct connection *c = f->connection;
    const struct order *order = &s->f->order;
    uint32_t from_responder = c->requester.flow.early_frame;
    uint32_t from_requester = c->responder.flow.early_frame;
    bool by_responder = from_responder > c->req_frame;
    if (c->rtu_frame)
        return sent_before_rtu(c);
    if (may_have_missed_rep(s, c))
        return uncertain("an earlier copy of the REP may not have been captured");
    bool by_requester = from_requester > c->req_frame && !order_is_uncertain(order, from_requester);
    if (by_responder && !by_requester && order_has_copies(order) && s->e->gsi)
        return certain_at(FACT_AT_COPY, s->e->gsi);
    return certain_if(by_responder || by_requester,
                      "the REP may have come before the IP: they are too "
                      "close to each other");
}

/*
 * The requester may use the refused QP for its next connection, also to another port (IBA 12.9.8).
 * It sends the REQ or the REP of that one, so the PSNs of its GSI show whether it was missed. If
 * two REQs crossed, it may send that REP before the REJ arrives (RFC 4755 §3.3). If the requester
 * refused the REP, its data is captured in order with the REJ, and that of the responder had no RTU
 * to wait for, unless one of two capture points has lost the data.
 */
struct certainty certainty_refused(const struct check_context *s, const struct fact *f)
{
    const struct connection *c = f->connection;
    const struct endport *requester = c->endport[0];
    const struct order *order = &s->f->order;
    if (!requester || requester->gsi.gap_frame > c->req_frame)
        return uncertain("the set-up of a later connection may not have been captured");
    struct certainty certainty = certain_at(FACT_AT_REQUEST, requester);
    certainty.copy = c->requester.refused && order_has_copies(order);
    return certainty;
}

/*
 * May the port have a connection with that queue pair of its peer? It may be known at another LID;
 * or its REQ or REP was not captured.
 */
static bool may_have_connection_to(const struct endport *port, uint32_t qpn)
{
    const struct connection *c = port->connections;
    unsigned i = 0;
    for (; c && i < CONNECTIONS_SEARCHED; i++, c = connection_older(c, port))
        if ((!c->responder.known && !c->rej_frame) || c->requester.flow.id.number == qpn ||
            c->responder.flow.id.number == qpn)
            return true;
    return i == CONNECTIONS_SEARCHED || port->has_unknown_connection;
}

/*
 * IP on a queue pair for which no connection is known. The sender's own REQ or REP sets it up, and
 * it has sent none since its start. The IP source shows that it is the sender: several ports may
 * share a LID, and a router forwards packets of others.
 */
static struct certainty never_set_up(const struct check_context *s)
{
    const struct endport *port = sending_port(s);
    struct ip source, destination;
    const struct neighbour *own = datagram_ips(&s->p->datagram, &source, &destination)
                                      ? neighbours_of_ip(s->f->neighbours, packet_link_key(s->p),
                                                         &source)
                                      : NULL;
    bool is_own = port && own && memcmp(own->lladdr + LLADDR_GID, port->gid, GID_SIZE) == 0;
    if (!is_own || !endport_requests_are_complete_since_start(port) ||
        may_have_connection_to(port, s->p->ib.dqpn))
        return uncertain("the set-up of the connection was not captured");
    return certain_at(FACT_AT_REQUEST, port);
}

/* Was every packet of the GSI of this end captured since its REQ or REP? */
static bool is_end_followed(const struct connection *c, bool requester)
{
    const struct endport *end = c->endport[requester ? 0 : 1];
    return end && endport_requests_are_complete_since(end, requester ? c->req_frame : c->rep_frame);
}

/* Has the port a later connection of which only its own REQ or REP was captured? */
static bool has_half_known(const struct endport *port, const struct connection *c)
{
    const struct connection *d = port->connections;
    unsigned i = 0;
    for (; d && d != c && i < CONNECTIONS_SEARCHED; i++, d = connection_older(d, port))
        if (!d->responder.known && !d->rej_frame)
            return true;
    return i == CONNECTIONS_SEARCHED || port->has_unknown_connection;
}

/*
 * The receiver may use the QP for its next connection (IBA 12.9.8). Both ends of that one send a
 * REQ or a REP, so the PSNs of either GSI show whether it was missed; that of the sender does not
 * name the QP. The sender of this packet is an end of that connection if it is an end of this one.
 */
static struct certainty no_later_connection(const struct check_context *s,
                                            const struct connection *c)
{
    bool to_requester = s->p->classification.to_requester;
    const struct endport *sender = c->endport[to_requester ? 1 : 0];
    if (is_end_followed(c, to_requester))
        return certain_at(FACT_AT_REQUEST, c->endport[to_requester ? 0 : 1]);
    if (is_end_followed(c, !to_requester) && endport_has_lid(sender, port_to_lid(s->p->src)) &&
        !has_half_known(sender, c))
        return certain_at(FACT_AT_REQUEST, sender);
    return uncertain("the set-up of a later connection may not have been captured");
}

/*
 * The sender goes on after its own DREQ, or its DREP and its TimeWait. Its messages have the next
 * PSNs after data of the connection, so they are no later one's, whose PSNs start anywhere in 24
 * bits. They are captured in order with the DREQ, unless one of two capture points has lost them.
 */
static bool sender_goes_on(const struct connection *c, bool to_requester)
{
    const struct flow *data = to_requester ? &c->requester.flow : &c->responder.flow;
    return connection_goes_on(c, !to_requester) && data->sequence.first_frame &&
           data->sequence.first_frame < c->dreq_frame;
}

/*
 * If the sender does not go on, the PSNs of a GSI count since the set-up, because the DREQ may be
 * that of a later connection with the same communication IDs.
 */
struct certainty certainty_ended(const struct check_context *s, const struct fact *f)
{
    const struct connection *c = f->connection;
    if (!c)
        return never_set_up(s);
    bool to_requester = s->p->classification.to_requester;
    const struct endport *sender = c->endport[to_requester ? 1 : 0];
    if (sender_goes_on(c, to_requester) && sender)
        return order_has_copies(&s->f->order) ? certain_at(FACT_AT_COPY, sender) : certain();
    if (!connection_goes_on(c, !to_requester) && !connection_is_quiet(c, &s->f->order.clocks))
        return uncertain("the TimeWait of its queue pairs may not be over");
    return no_later_connection(s, c);
}

/* Has the responder another connection with the queue pair that the REQ names? */
static bool has_older(const struct connection *c)
{
    const struct endport *responder = c->endport[1];
    const struct connection *d = responder->connections;
    unsigned i = 0;
    for (; d && i < CONNECTIONS_SEARCHED; i++, d = connection_older(d, responder))
        if (d != c && (d->requester.flow.id.number == c->requester.flow.id.number ||
                       d->responder.flow.id.number == c->requester.flow.id.number))
            return true;
    return i == CONNECTIONS_SEARCHED || responder->has_unknown_connection;
}

/*
 * The responder rejects for another reason than the crossing: it may lack resources. But its own
 * REQ contradicts that it knows no such Service-ID, if it has the same form. Only an older
 * connection contradicts that the REQ names a queue pair which has one.
 */
static struct certainty other_reason(const struct connection *c, uint16_t reason)
{
    const struct connection *own = connection_crossed(c);
    bool knows = own && own->service_id >> 24 == c->service_id >> 24;
    bool contradicts = c->crossing == CROSSED && own && own->requester.has_private &&
                       ((reason == CM_REJ_SERVICE_ID && knows) ||
                        (reason == CM_REJ_STALE && !has_older(c)));
    return captured_in(contradicts ? own->req_frame : 0,
                       uncertain("the REJ's reason is not 28: the crossing may not be the cause"));
}

/*
 * The responder may have given up its own REQ, with a REJ, before it responded to this one. Or this
 * one was repeated in the meantime: the PSNs of the requester's GSI show whether that was missed.
 */
struct certainty certainty_crossing(const struct check_context *s, const struct fact *f)
{
    const struct connection *c = f->connection;
    const struct cm *cm = &s->p->mad.cm;
    if (cm->message == CM_REJ && cm->reason != CM_REJ_CONSUMER)
        return other_reason(c, cm->reason);
    if (c->crossing == MAY_HAVE_ARRIVED_LATE)
        return uncertain("the REQ was repeated: its first copy may have been lost");
    if (c->crossing != CROSSED)
        return uncertain("the response to the first REQ may not have been captured");
    if (s->e->gsi != endport_of(c->endport[1]))
        return uncertain("the LIDs of the responder were not captured");
    if (c->endport[1]->gsi.gap_frame > c->req_frame)
        return uncertain("the responder's REJ of its own REQ may not have been captured");
    if (!connection_may_be_repeated(c, &s->f->order.clocks))
        return certain();
    if (c->endport[0]->gsi.gap_frame > c->req_frame)
        return uncertain("a repetition of the REQ may not have been captured");
    return certain_at(FACT_AT_REQUEST, c->endport[0]);
}

struct certainty certainty_receive_mtus(const struct check_context *s, const struct fact *f)
{
    const struct connection *c = f->connection;
    if (!connection_mtu(c))
        return uncertain("the REQ or the REP was not captured");
    if (s->f->records_are_current || connection_has_qps(c, &s->f->order.clocks))
        return certain();
    return no_later_connection(s, c);
}
