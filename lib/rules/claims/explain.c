/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captured packets that explain a claim: then it is no violation. */
#include "rules/claims/claim_state.h"

/*
 * Can a request with this method contradict the claim? A join can. If the claim is that the
 * port is no member (join-before-send), a leave can too: the capture may have the response to the
 * leave before the datagram, although the port sent the datagram before it left.
 */
static bool is_request_of(uint8_t method, const struct claim *f)
{
    return method == SA_SET || (method == SA_DELETE && f->rule == R_RFC4391_10_JOIN_BEFORE_SEND);
}

/*
 * Is the current packet a request that contradicts the claim, and that may have been sent before
 * the packet of the claim? Frames that are close together may be captured in the wrong order
 * (model/order.h). The request counts if it is for the group of the claim. If the claim has no
 * group, a request for any broadcast group counts, because its response has the parameters of the
 * link. A request that was truncated before the MGID counts, because it may be for the group. For
 * data on a connection that was not set up, a CM message counts instead: it may set it up.
 */
static bool is_request_near(const struct check_context *s, const struct claim *f)
{
    const struct mad_payload *m = &s->p->mad;
    if (f->rule == R_RFC4755_2_3_CONNECTION_BEFORE_IP)
        return m->kind == MAD_KIND_CM && order_is_uncertain(&s->f->order, f->frame);
    if (view_has(m->bytes, 0, SA_DATA + MCM_MGID + MGID_SIZE) == WIRE_TRUNCATED)
        return order_is_uncertain(&s->f->order, f->frame);
    if (m->kind != MAD_KIND_SA || m->result != WIRE_OK || !is_request_of(m->sa.mad.method, f) ||
        m->sa.mad.attribute != SA_MC_MEMBER_RECORD ||
        view_has(m->sa.data, MCM_MGID, MGID_SIZE) != WIRE_OK)
        return false;
    const uint8_t *mgid = m->sa.data.p + MCM_MGID;
    const uint8_t *group = f->about.kind == ENTITY_GROUP ? f->bytes
                           : f->about.group              ? f->group
                                                         : NULL;
    bool same = group ? memcmp(mgid, group, MGID_SIZE) == 0 : mgid_is_broadcast(mgid);
    return same && order_is_uncertain(&s->f->order, f->frame);
}

/*
 * Is the current packet a subscription, and the claim that the port lacks one? RFC 4391 section
 * 10 does not require that a sender subscribes before its first datagram.
 */
static bool is_subscription(const struct check_context *s, const struct claim *f)
{
    const struct mad_payload *m = &s->p->mad;
    return f->rule == R_RFC4391_10_SUBSCRIBE_TRAPS && m->kind == MAD_KIND_SA &&
           m->result == WIRE_OK && m->sa.mad.method == SA_SET &&
           m->sa.mad.attribute == SA_INFORM_INFO;
}

/* Is this an SMP with a table that the SM may have set before the packet of the claim? */
static bool is_smp_near(const struct check_context *s, const struct claim *f)
{
    const struct mad_payload *m = &s->p->mad;
    bool may_set = m->kind == MAD_KIND_SMP && m->result == WIRE_OK &&
                   (m->smp.mad.attribute == SMP_PORT_INFO ||
                    m->smp.mad.attribute == SMP_PKEY_TABLE);
    return may_set && order_is_uncertain(&s->f->order, f->frame);
}

/*
 * The QP of the port that the CM message of the claim names. NULL: it has not sent IPoIB, or it
 * sends on another partition than the connection's, so it is another interface's.
 */
static const struct qp *qp_of_message(const struct check_context *s, const struct claim *f)
{
    const struct qp *qp = qp_of_port(s, f->port, (uint32_t)f->value);
    return qp && same_partition(qp->pkey, f->pkey) ? qp : NULL;
}

/*
 * The QP that, by the claim, is no interface's: the destination of the datagram, or the QPN in
 * the CM message. NULL: the claim is about no QP, or the QP has not sent IPoIB.
 */
static const struct qp *qp_of_claim(const struct check_context *s, const struct claim *f)
{
    const struct port to = port_on(f->to, f->port->interface);
    switch (f->rule) {
    case R_RFC4391_9_1_1_TRAFFIC_TO_QPN:
    case R_RFC4391_9_4_REVALIDATE_ARP:
        return qpns_find(s->f->qpns, &to, f->qpn);
    case R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA:
    case R_RFC4755_3_5_SERVICE_ID:
        return qp_of_message(s, f);
    default:
        return NULL;
    }
}

/*
 * Has the QP of the claim sent IPoIB after the packet of the claim? Then it is an interface's.
 * The datagram or the CM message was right, and the ARP or ND message that announced the QPN was
 * not captured.
 */
static bool is_sender(const struct check_context *s, const struct claim *f)
{
    const struct qp *qp = qp_of_claim(s, f);
    return qp && qp->sequence.last_frame > f->frame;
}

/* The connection of a claim about a QPN in a CM message; NULL: it is about none. */
static const struct connection *connection_of_claim(const struct check_context *s,
                                                    const struct claim *f)
{
    bool is_qpn = f->rule == R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA ||
                  f->rule == R_RFC4755_3_5_SERVICE_ID;
    return is_qpn && f->about.number ? connections_at(s->f->connections, f->about.number - 1)
                                     : NULL;
}

/* Do both sides of the connection name the QPN? Then its announcement was not captured. */
static bool is_agreed(const struct check_context *s, const struct claim *f)
{
    const struct connection *c = connection_of_claim(s, f);
    return c && f->port == endport_of(c->endport[1]) && connection_agrees(c, (uint32_t)f->value);
}

/* Has the port named the GID of the address that it announced by now? */
static bool is_named(const struct check_context *s, const struct claim *f)
{
    if (f->rule != R_RFC4391_9_1_1_GID_FROM_PORT_GUID)
        return false;
    const struct endport *owner = endports_by_gid(s->f->endports, f->port->interface,
                                                  f->bytes + LLADDR_GID);
    return owner && endport_has_lid(owner, f->port->lid);
}

bool claim_is_explained(const struct check_context *s, const struct claim *f)
{
    return is_sender(s, f) || is_agreed(s, f) || is_named(s, f);
}

bool claim_is_explained_by_request(const struct check_context *s, const struct claim *f)
{
    if (f->when == FACT_AT_SMP)
        return is_smp_near(s, f);
    return is_request_near(s, f) || is_subscription(s, f);
}
