/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about ports and their addresses: SMPs, ARP, ND and a restart can outdate them. */
#include "model/neighbour.h"
#include "rules/certainty.h"
#include "wire/nanoseconds.h"

/* ---- ports */

/*
 * The SA's record of the port. The SM may have set another NeighborMTU before or after it, but
 * MTUCap is read-only (IBA 14.2.5.6): a port changes it with a restart, after which its GSI sends
 * other PSNs and it joins again. So it counts for a membership before or after the record, as long
 * as no request of the port is missing between them.
 */
static struct certainty mtu_by_sa(const struct check_context *s, const struct fact *f)
{
    const struct endport_said *said = f->port->said;
    const struct member *m = groups_member(s->f->groups, f->group, f->port);
    uint32_t since = m ? MIN(m->frame, said->port_frame) : 0;
    bool is_same = m && member_is_known(m) && f->group->changed_frame <= m->frame &&
                   endport_requests_are_complete_since(f->port, since);
    if (!is_same)
        return uncertain("the port may have been restarted between the SA's record of it and its "
                         "join");
    bool fits = !said->mtu_cap || f->group->mtu <= said->mtu_cap;
    return captured_in(said->port_frame,
                       fits ? uncertain("the SM may have changed the MTU of the port's link before "
                                        "or after the SA's record of it")
                            : no_request_since(s, f->port, since));
}

/*
 * The SM may set a port's MTU (IBA 14.2.5.6) or P_Key table (14.2.5.7) while the port is up. If
 * both the SMP and its response are lost, only the PSN of the port's next response shows it. The
 * PortInfo that brings the port up has the MTU.
 */
struct certainty certainty_port_mtu(const struct check_context *s, const struct fact *f)
{
    if (f->port->neighbor_mtu)
        return captured_in(f->port->initialised_frame, certain_at(FACT_AT_SMP, f->port));
    return f->port->said && f->port->said->port_frame
               ? mtu_by_sa(s, f)
               : uncertain("the port's PortInfo was not captured");
}

/*
 * A port that was in the partition before the SA's record and still is: its interface has not
 * joined again, so the SM has not taken the P_Key away and given it back. Before the port joins,
 * the SM may give it the P_Key.
 */
static bool stays_in_partition(const struct check_context *s, const struct fact *f)
{
    for (const struct group *b = broadcasts_of(s, f->pkey); b; b = b->next) {
        const struct member *m = groups_member(s->f->groups, b, f->port);
        if (m && m->join_state & JOIN_FULL && member_is_known(m) &&
            m->frame < f->port->said->pkeys_frame && !f->port->several_interfaces)
            return true;
    }
    return false;
}

struct certainty certainty_pkeys(const struct check_context *s, const struct fact *f)
{
    if (f->pkey_known == PKEY_NOT_KNOWN)
        return uncertain(
            "the port's P_Key table is not known: SMPs with it may be missing, or it has several blocks");
    if (endport_has_pkey(f->port, f->pkey) == PKEY_NOT_KNOWN)
        return captured_in(stays_in_partition(s, f) ? f->port->said->pkeys_frame : 0,
                           uncertain("the SM may have changed the port's P_Key table before or "
                                     "after the SA's record of it"));
    if (!requests_are_complete(f->port))
        return uncertain(why_not_complete(f->port));
    return captured_in(f->port->pkeys->frame, certain_at(FACT_AT_SMP, f->port));
}

/*
 * Is the sender's QP the one that the port announced at this LID, with every datagram captured
 * since its last one? Then the LID has not become another port's meanwhile.
 */
static bool is_qp_of_port(const struct check_context *s, const struct endport *sender)
{
    return sender && s->e->sender_seen == SEEN_NEXT &&
           endport_announced(sender, s->p->ib.pkey, s->p->ib.sqpn) == ANNOUNCED;
}

/*
 * fabric_whose_gid() decided it from all packets of the ports. Another port's GID may have moved to
 * the sender, a GID of no known port may be an alias GID of the sender (IBA 4.1.1), and the SM may
 * have given the sender's LID to another port: the port then joins, and its next request shows
 * whether such a join was lost.
 */
struct certainty certainty_gids(const struct check_context *s, const struct fact *f)
{
    const struct endport *sender = endports_by_lid(s->f->endports, s->p->at.interface,
                                                   s->p->ib.slid);
    switch (f->whose) {
    case WHOSE_OWN_GUID: /* with another prefix, such as the default one (IBA 4.1.1) */
        return uncertain("the SMP or join with the port's other GIDs was not captured");
    case WHOSE_ALIAS:
        return certain_if(is_qp_of_port(s, sender),
                          "the interface may be a virtual function's, whose port GUID this is");
    case WHOSE_UNKNOWN:
        return uncertain("the SMPs or joins with the GIDs of the ports were not captured");
    case WHOSE_OTHERS:
        return is_qp_of_port(s, sender) ? certain() : certain_at(FACT_AT_REQUEST, sender);
    case WHOSE_OTHERS_NAMED:
    case WHOSE_NO_PORT:
        return certain_at(FACT_AT_REQUEST, sender);
    case WHOSE_OWN:
        return certain();
    }
    return certain();
}

struct certainty certainty_interface(const struct check_context *s, const struct fact *f)
{
    (void)s;
    return certain_if(f->known, "the announcement of the sender's QPN was not captured");
}

/* Has the QP sent IPoIB on the partition of the connection? Then an interface has it. */
static bool is_of_interface(const struct check_context *s, const struct fact *f)
{
    const struct qp *qp = qp_of_port(s, f->port, f->qpn);
    return qp && f->connection && same_partition(qp->pkey, f->connection->pkey);
}

/*
 * The port may have had another address before the capture began, or before its interface was
 * restarted: a peer may still have it in its cache. Later, an interface with another
 * QPN joins: the first one after a restart, or a second one of the partition, such as a program's.
 */
struct certainty certainty_ud_qpns(const struct check_context *s, const struct fact *f)
{
    const struct connection *c = f->connection;
    bool agreed = c && f->port == c->endport[1] && connection_agrees(c, f->qpn);
    bool may_be_old = f->port != s->e->gsi && c && !endport_knows_old_qpns(f->port, c->pkey);
    if (f->announced == ANNOUNCED_UNKNOWN || agreed || is_of_interface(s, f) ||
        f->port->several_interfaces || may_be_old)
        return uncertain("the announcement of the port's link-layer address was not captured");
    uint32_t frame = 0;
    if (c)
        endport_ud_qpn(f->port, c->pkey, &frame);
    if (!requests_are_complete(f->port))
        return captured_in(frame, uncertain(why_not_complete(f->port)));
    return captured_in(frame, (f->port == s->e->gsi ? no_request_before_own : no_request_since)(
                                  s, f->port, f->port->initialised_frame));
}

/* ---- neighbours */

/*
 * RFC 4391 §9.4 names no period. The longest in use: entries of BSD and Solaris end after 20
 * minutes. Linux revalidates an entry when it is used, within seconds, however old it is.
 */
enum { REVALIDATE_SECONDS = 20 * 60 };

/*
 * A node replaces the address in its cache by one that it receives (RFC 826, RFC 4861 §7.2.5), and
 * needs this time at most. Linux revalidates an entry in use within a minute.
 */
enum { SWITCH_SECONDS = 3, TOLD_SECONDS = 60 };

/* A sender uses the reply to its own request for at least this time. */
enum { REPLY_SECONDS = 5 };

/* The sender's last request for the holder's IP address; NULL: none. */
static const struct resolution *request_of(const struct check_context *s, const struct ip *sender,
                                           const struct neighbour *holder)
{
    uint32_t link = packet_link_key(s->p);
    const struct neighbour *requester = neighbours_of_ip(s->f->neighbours, link, sender);
    struct resolution like = {.link = link, .requester_ip = *sender, .target = holder->ip};
    if (!requester)
        return NULL;
    memcpy(like.requester, requester->lladdr, LLADDR_SIZE);
    const struct resolution *q = resolution_request(s->f->resolutions, &like, 0);
    return q && q->lid == port_to_lid(s->p->src) ? q : NULL;
}

/* Was the request, which got a reply, sent a few seconds ago, and before the holder's address? */
static bool is_recent(const struct check_context *s, const struct neighbour *holder, uint32_t frame,
                      uint16_t interface, int64_t ns)
{
    return holder->last_frame > frame &&
           clocks_at_most(&s->f->order.clocks, interface, ns) <= REPLY_SECONDS * NANOSECONDS;
}

/* Did the holder answer the sender's last request q a few seconds ago? */
static bool got_reply(const struct check_context *s, const struct resolution *q,
                      const struct neighbour *holder)
{
    return q->reply_frame && is_recent(s, holder, q->frame, q->interface, q->ns);
}

/*
 * Did the holder answer the sender's last request, a few seconds ago, with the address that it has
 * now? Then the sender does not use an older address, whatever happened before the capture.
 */
static bool got_address(const struct check_context *s, const struct ip *sender,
                        const struct neighbour *holder)
{
    const struct resolution *q = request_of(s, sender, holder);
    return q && !order_is_uncertain(&s->f->order, holder->last_frame) && got_reply(s, q, holder) &&
           holder->taken_frame <= q->reply_frame;
}

/*
 * A datagram in a group: its IP destination may be a directed broadcast by the sender's prefix
 * length (RFC 1122 3.3.6), or an address that several interfaces announce. Did an interface answer
 * the interface that sends the datagram when it requested the address, last or before? Then the
 * sender takes it for the address of one interface, whatever QPN this one has: before the reply,
 * too. The request is captured in order with the datagram, unless two capture points see the port.
 */
static bool is_resolved_by_sender(const struct check_context *s, const struct ip *sender,
                                  const struct neighbour *holder)
{
    const struct resolution *q = request_of(s, sender, holder);
    if (!q || be24(q->requester + LLADDR_QPN) != s->p->ib.sqpn ||
        (order_has_copies(&s->f->order) && order_is_uncertain(&s->f->order, q->frame)))
        return false;
    return got_reply(s, q, holder) ||
           (q->before.frame &&
            is_recent(s, holder, q->before.frame, q->before.interface, q->before.ns));
}

/*
 * Does the port's interface still have the address? If it was restarted or the port has another
 * interface on the partition, the IP address may have moved to another QPN.
 */
static bool is_its_only_address(const struct check_context *s, const struct endport *port,
                                const struct neighbour *n)
{
    return endport_has_one_interface(port, s->p->ib.pkey) &&
           !has_joined_since(s, port, s->p->ib.pkey, n->last_frame);
}

/* Was each datagram of the sending QP captured, from its first one on? */
static bool is_followed_from_start(const struct check_context *s)
{
    return s->e->has_sender_qp
               ? s->e->sender_seen == SEEN_NEXT && !s->e->sender_qp.sequence.gap_frame
               : s->p->ib.psn == 0;
}

/*
 * The sending QP may be that of another interface of the port with the same IP address, such as a
 * link-local one on a link with another scope; or of the same interface after a restart: it then
 * joins again.
 */
static struct certainty source_qp(const struct check_context *s, const struct fact *f)
{
    const struct neighbour *n = f->neighbour;
    const char *missing = "the sending queue pair may be another interface's, or the interface "
                          "may have been restarted: its announcement may not have been captured";
    const struct group *b = broadcasts_of(s, s->p->ib.pkey);
    if (!is_its_only_address(s, f->port, n) || (b && b->next))
        return uncertain(missing);
    if (!requests_are_complete(f->port) || !is_followed_from_start(s))
        return captured_in(n->last_frame, uncertain(missing));
    return captured_in(n->last_frame, no_request_since(s, f->port, f->port->initialised_frame));
}

/*
 * After a restart of its interface, a port has another QPN and joins again. The port's next request
 * shows whether such a join was lost.
 */
struct certainty certainty_neighbour(const struct check_context *s, const struct fact *f)
{
    const struct neighbour *n = f->neighbour;
    if (f->port)
        return source_qp(s, f);
    if (!ib_goes_to_group(&s->p->ib) && s->p->ib.dqpn == QPN_MULTICAST) /* no port has this QP */
        return certain();
    if (ib_is_multicast(&s->p->ib))
        return certain_if(is_resolved_by_sender(s, f->ip, n),
                          "the sender's own resolution of the address was not captured");
    const struct endport *port = endports_by_gid(s->f->endports, s->p->at.interface,
                                                 n->lladdr + LLADDR_GID);
    bool moved = port && port->lid && s->p->ib.has_lrh && !endport_has_lid(port, s->p->ib.dlid);
    /* otherwise it may have announced another QPN before the capture began, or since its restart */
    bool fresh = port && endports_gid_is_confirmed(s->f->endports, port) &&
                 port->named_frame < n->last_frame && got_address(s, f->ip, n);
    bool complete = port && requests_are_complete(port) &&
                    endport_knows_old_qpns(port, s->p->ib.pkey);
    const char *missing = "the announcement of the receiver's address may not have been captured";
    if (!port || moved || port->several_interfaces ||
        has_joined_since(s, port, s->p->ib.pkey, n->last_frame) ||
        qpns_find(s->f->qpns, &s->p->dst, s->p->ib.dqpn))
        return uncertain(missing);
    if ((!fresh && !complete) || !endport_has_one_interface(port, s->p->ib.pkey))
        return captured_in(n->last_frame, uncertain(missing));
    return captured_in(n->last_frame,
                       no_request_since(s, port, fresh ? n->last_frame : port->initialised_frame));
}

/* Did the interface get its new QPN when it joined again, and has the old QP sent nothing since? */
static bool is_restarted(const struct check_context *s, const struct endport *port,
                         const struct neighbour *n)
{
    const struct neighbour *old = neighbour_replaced(n);
    const struct qp *qp = qpns_find(s->f->qpns, &s->p->dst, s->p->ib.dqpn);
    return old && has_joined_since(s, port, s->p->ib.pkey, old->last_frame) &&
           !(qp && qp->sequence.last_frame > n->taken_frame);
}

static bool is_past(const struct check_context *s, uint16_t interface, int64_t ns, int64_t seconds)
{
    return clocks_at_least(&s->f->order.clocks, interface, ns) > seconds * NANOSECONDS;
}

/* Has the packet's sender sent to this QPN of the IP address, so many seconds before? */
static bool has_used(const struct check_context *s, const struct neighbour *n, uint32_t qpn,
                     int64_t seconds)
{
    const struct stale_use like = stale_use_by(s->p, n, qpn),
                           *first = stale_use_of(s->f->stale, &like);
    return first && is_past(s, first->interface, first->ns, seconds);
}

bool has_used_new_address(const struct check_context *s, const struct neighbour *holder)
{
    return has_used(s, holder, be24(holder->lladdr + LLADDR_QPN), SWITCH_SECONDS);
}

/* Did the sender receive the new address, in a reply or as all nodes did, a minute before? */
static bool was_told(const struct check_context *s, const struct ip *sender,
                     const struct neighbour *n)
{
    const struct resolution *q = request_of(s, sender, n);
    return (n->told_seconds &&
            is_past(s, n->told_on, n->told_seconds * NANOSECONDS, TOLD_SECONDS)) ||
           (q && q->reply_frame >= n->taken_frame && is_past(s, q->interface, q->ns, TOLD_SECONDS));
}

/*
 * The interface may have been restarted once more and have its old QPN again, or the IP address may
 * have moved back to an interface with that QPN. The port's next request shows whether a join was
 * lost.
 */
struct certainty certainty_new_address(const struct check_context *s, const struct fact *f)
{
    const struct neighbour *n = f->neighbour;
    const struct endport *port = endports_by_gid(s->f->endports, s->p->at.interface,
                                                 n->lladdr + LLADDR_GID);
    const char *early = "the sender has not used the previous QPN for 20 minutes yet",
               *missing = "the address may have changed again: the announcement may not have been "
                          "captured";
    bool is_late = has_used_new_address(s, n) || has_used(s, n, s->p->ib.dqpn, REVALIDATE_SECONDS);
    if (!is_late && !was_told(s, f->ip, n))
        return uncertain(early);
    if (!port || !is_its_only_address(s, port, n) || !is_restarted(s, port, n))
        return uncertain(missing);
    if (!is_late)
        return captured_in(n->last_frame, uncertain(early));
    return endport_requests_are_complete_since(port, n->last_frame)
               ? certain_at(FACT_AT_REQUEST, port)
               : captured_in(n->last_frame, uncertain(missing));
}

/* ---- requests of address resolution */

/*
 * A reply is expected within the time in which a request is repeated: three times at intervals of
 * one second (RFC 4861 §10).
 */
enum { ANSWER_SECONDS = 5 };

bool request_is_old(const struct check_context *s, const struct resolution *q)
{
    return clocks_at_least(&s->f->order.clocks, q->interface, q->ns) > ANSWER_SECONDS * NANOSECONDS;
}

/*
 * Is the request, the requester's last, without a reply and recent? Only then is a wrong reply
 * certainly one to it; otherwise it may be the reply to a request that was not captured.
 */
static bool request_waits(const struct check_context *s, const struct resolution *q)
{
    int64_t age = clocks_at_most(&s->f->order.clocks, q->interface, q->ns);
    return !q->replied && age <= ANSWER_SECONDS * NANOSECONDS;
}

/*
 * Does a port other than the requester's have the IP? If no holder is known, it may be another IP
 * of the requester, whose request was not captured or was captured after its reply.
 */
static bool is_anothers(const struct check_context *s, const struct ip *ip,
                        const uint8_t *requester)
{
    const struct neighbour *holder = neighbours_of_ip(s->f->neighbours, packet_link_key(s->p), ip);
    return holder && !neighbour_is_same_port(holder, requester);
}

/*
 * Was every datagram of the requester's QP captured for as long as a reply may take? It may have
 * sent a request from another IP address, which was another port's before.
 */
static bool has_no_other_request(const struct check_context *s, const struct resolution *q)
{
    const struct port from = port_lid(s->p->at.interface, q->lid);
    const struct qp *qp = qpns_find(s->f->qpns, &from, be24(q->requester + LLADDR_QPN));
    if (!qp || !qp->sequence.gap_frame)
        return qp != NULL;
    int64_t age = clocks_at_least(&s->f->order.clocks, q->interface,
                                  (int64_t)qp->gap_seconds * NANOSECONDS);
    return age > ANSWER_SECONDS * NANOSECONDS;
}

/*
 * Has the port had its LID since it started in this capture? Otherwise peers may have a path to an
 * earlier LID in their caches.
 */
static bool keeps_lid(const struct endport *p)
{
    return p && !p->moved && endport_requests_are_complete_since_start(p);
}

/* The requester's next datagram shows whether a request since then was not captured. */
struct certainty certainty_request(const struct check_context *s, const struct fact *f)
{
    const struct resolution *q = f->request;
    const struct endport *port = endports_by_lid(s->f->endports, s->p->at.interface, q->lid);
    bool keeps = !f->port || (keeps_lid(f->port) && keeps_lid(port) && keeps_lid(sending_port(s)));
    if (!request_waits(s, q))
        return uncertain("the requester's last request is older than 5 s, or has a reply: another "
                         "request may not have been captured");
    if (!keeps)
        return captured_in(q->frame, uncertain("the responder may have a path to an earlier LID of "
                                               "the requester"));
    bool known = port && (!f->ip || is_anothers(s, f->ip, q->requester)) &&
                 has_no_other_request(s, q);
    return known ? certain_at(FACT_AT_DATAGRAM, port)
                 : captured_in(q->frame,
                               uncertain("another request of the requester may not have been "
                                         "captured"));
}

/*
 * Is the NA certainly the response to this solicitation? It must go to the port that solicited, or
 * to a group, and must be the first datagram of the sender since. If an earlier one was lost, that
 * one may have been the response; this one may then answer a solicitation that was not captured, of
 * another port or QP with the same IP. The response may have been captured before the solicitation.
 */
static bool is_response_to(const struct check_context *s, const struct resolution *q)
{
    const struct endport *requester = endports_by_lid(s->f->endports, s->p->at.interface, q->lid);
    uint16_t lid = port_to_lid(s->p->dst);
    const struct qp *qp = s->e->has_sender_qp ? &s->e->sender_qp : NULL;
    bool to_requester = lid == q->lid || (requester && endport_has_lid(requester, lid)) ||
                        (s->p->ib.has_lrh && lid >= LID_MULTICAST_FIRST);
    bool first = qp ? sender_is_followed(s, q->window) : s->p->ib.psn == 0;
    return to_requester && first && request_waits(s, q);
}

/*
 * Is the sender on another link than the interface that solicited, as far as the capture shows?
 * The links of a partition differ in their scope, and a port may have an interface with the same
 * link-local address on each. A unicast solicitation went to the QP that answers.
 */
static bool may_be_on_another_link(const struct check_context *s, const struct resolution *q)
{
    if (q->to_qpn)
        return q->to_qpn != s->p->ib.sqpn;
    const struct port from = port_lid(s->p->at.interface, q->lid);
    const struct qp *qp = qpns_find(s->f->qpns, &from, be24(q->requester + LLADDR_QPN));
    uint8_t scope = sending_scope(s);
    if (qp && qp->scope && scope)
        return scope != qp->scope;
    const struct group *b = broadcasts_of(s, s->p->ib.pkey);
    return b && b->next;
}

struct certainty certainty_solicitation(const struct check_context *s, const struct fact *f)
{
    const struct resolution *q = f->request;
    /* two interfaces of one port may have the same IP */
    bool another = q && q->lid == port_to_lid(s->p->dst) &&
                   qpns_find(s->f->qpns, &s->p->dst, s->p->ib.dqpn);
    return certain_if(q && !another && !may_be_on_another_link(s, q) && is_response_to(s, q),
                      "the neighbour solicitation was not captured");
}
