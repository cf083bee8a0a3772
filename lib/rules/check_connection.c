/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of a connection over its lifetime: set-up, crossing requests, data, teardown (RFC 4755
 * §2.3, 3.2 to 3.5, 5, 7).
 */
#include <inttypes.h>

#include "rules/result.h"
#include "rules/suspicions/suspicions.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/ip.h"
#include "wire/nd.h"

enum { IPV6_MTU_MIN = 1280 }; /* RFC 8200 §5 */

static struct entity about(const struct connection *c, uint32_t what)
{
    struct entity s = entity_connection(c->number);
    s.other = what;
    return s;
}

/*
 * A result about what the port does, at a packet that may be another port's. frame: of the packet
 * at fault; 0: this one.
 */
static void report_of_port(const struct check_context *s, const struct result *r,
                           const struct endport *port, uint32_t frame, bool holds)
{
    struct reporter reporter = *s->r;
    struct check_context of = *s;
    const struct sender sender = sender_of_port(port);
    reporter.sender = &sender;
    reporter.frame = frame;
    of.r = &reporter;
    settle_result(&of, r, holds);
}

/* ---- set-up */

static void describe_before_rtu(const struct check_context *s, const struct result *r,
                                char *expected, char *actual)
{
    const struct connection *c = r->facts[0].connection;
    (void)s;
    g_snprintf(expected, RESULT_TEXT, "the RTU, which follows in frame %u, before IP",
               c->rtu_frame);
    g_strlcpy(actual, "IP of the responder before the RTU", RESULT_TEXT);
}

static void describe_announced(const struct check_context *s, const struct result *r,
                               char *expected, char *actual)
{
    describe_qpn(s, r, expected, actual);
    g_strlcpy(expected, "the QPN of a link-layer address of that port", RESULT_TEXT);
}

/*
 * No interface has the QPNs of management and of multicast; and no QPN is that of two queue pairs
 * of a port, so none has that of its queue pair of the connection. NULL: an interface may have it.
 */
static const char *why_no_interface(const struct connection *c, bool requester, uint32_t qpn)
{
    const struct connection_side *side = requester ? &c->requester : &c->responder;
    if (qpn == QPN_MULTICAST)
        return "the QPN of multicast";
    if (qpn <= QPN_GSI)
        return "a QPN of management";
    return side->known && side->flow.id.number == qpn ? "the QPN of the connection's queue pair"
                                                      : NULL;
}

/*
 * Is a QPN in a CM message, said to be of that end of the connection, the UD QPN in one of the
 * port's link-layer addresses on the partition? The message is enough to prove that it is no
 * interface's.
 */
static void check_ud_qpn(const struct check_context *s, enum rule_number rule,
                         const struct connection *c, bool requester, uint32_t qpn, const uint8_t *p)
{
    const struct endport *port = c->endport[requester ? 0 : 1];
    const char *wrong = why_no_interface(c, requester, qpn);
    const struct result r = {
        .rule = rule,
        .about = about(c, s->p->at.frame),
        .value = qpn,
        .at = {p, 3},
        .unknown_at = p,
        .often = REPORT_EACH,
        .describe = describe_announced,
        .facts = {{FACT_UD_QPNS, .port = port, .connection = c, .qpn = qpn,
                   .announced = port ? endport_announced(port, c->pkey, qpn) : ANNOUNCED_UNKNOWN}}};
    if (wrong)
        expect_about(s->r, rule, &r.about, false, p, 3,
                     requester ? "the UD QPN of the requester" : "the UD QPN of the responder",
                     wrong);
    else if (r.facts[0].announced == ANNOUNCED)
        report_pass(s->r, rule);
    else if (port)
        report_result(s, &r);
}

/* The private data of an end; 0: check_cm.c reports that it lacks the QPN. */
static void check_private_qpn(const struct check_context *s, const struct connection *c,
                              bool requester)
{
    const struct mad_payload *m = &s->p->mad;
    if (m->private_result == WIRE_OK && m->private.ud_qpn)
        check_ud_qpn(s, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, c, requester, m->private.ud_qpn,
                     m->bytes.p + m->cm.private_off + CM_PRIVATE_UD_QPN);
}

static void on_req(const struct check_context *s, const struct connection *c)
{
    if (c->req_frame != s->p->at.frame)
        return; /* a repeated REQ: check_last_qpn() */
    /* the QPN of the Service-ID: the UD QPN in the responder's link-layer address (RFC 4755 §3.5)
     */
    check_ud_qpn(s, R_RFC4755_3_5_SERVICE_ID, c, false, cm_service_qpn(c->service_id),
                 s->p->ib.payload.p + REQ_SERVICE_ID +
                     (cm_service_is_reversed(c->service_id) ? 0 : 5));
    check_private_qpn(s, c, true);
}

/*
 * RFC 4755 §3.3: compares the UD QPNs, then the GIDs, without the flags; most significant octet
 * first.
 */
static int compare_addresses(uint32_t qpn_a, const struct endport *a, uint32_t qpn_b,
                             const struct endport *b)
{
    return qpn_a != qpn_b ? (qpn_a < qpn_b ? -1 : 1) : memcmp(a->gid, b->gid, GID_SIZE);
}

/*
 * The first response to a REQ that crossed another, or may have crossed it: the side with the
 * smaller address accepts.
 */
static void check_crossing(const struct check_context *s, const struct cm *cm,
                           const struct connection *c)
{
    struct entity entity = about(c, cm->message);
    if (c->crossing == CROSSING_NONE || c->crossing == RECEIVED_BEFORE ||
        !c->requester.has_private || !c->endport[0] || !c->endport[1])
        return;
    int local = compare_addresses(cm_service_qpn(c->service_id), c->endport[1], c->requester.ud_qpn,
                                  c->endport[0]);
    bool accepts = cm->message == CM_REP, should_accept = local < 0;
    bool other_reason = !accepts && cm->reason != CM_REJ_CONSUMER;
    const struct result r = {
        .rule = R_RFC4755_3_3_SIMULTANEOUS,
        .about = entity,
        .at = {s->p->ib.payload.p + MAD_ATTRIBUTE, 2},
        .often = REPORT_EACH,
        .expected = should_accept ? "REP: the local address is the smaller one"
                                  : "REJ, reason 28: the local address is the larger one",
        .actual = accepts        ? "REP"
                  : other_reason ? "REJ, another reason"
                                 : "REJ, reason 28",
        .unknown_at = s->p->ib.payload.p,
        .facts = {{FACT_CROSSING, .connection = c}},
        .dropped = READ_UD_QPNS}; /* read for the QPN in the same message */
    if (accepts != should_accept || other_reason)
        report_result(s, &r);
    else if (c->crossing == CROSSED)
        report_pass_about(s->r, r.rule, &entity);
}

/* IP data of the responder before the RTU and the requester's data: it shows either is there. */
static void check_before_rtu(const struct check_context *s, const struct connection *c)
{
    const struct result r = {.rule = R_RFC4755_2_3_CONNECTION_BEFORE_IP,
                             .about = about(c, CM_RTU),
                             .is_code = true,
                             .describe = describe_before_rtu,
                             .facts = {{FACT_EARLY_DATA, .connection = c}}};
    if (c->rtu_frame && c->requester.flow.early_frame > c->rep_frame)
        report_of_port(s, &r, c->endport[1], c->requester.flow.early_frame, false);
}

/* IP data before the REP, in either direction. */
static void check_early(const struct check_context *s, const struct cm *cm,
                        const struct connection *c)
{
    const struct result r = {.rule = R_RFC4755_2_3_CONNECTION_BEFORE_IP,
                             .about = about(c, cm->message),
                             .expected = "no IP datagram before the REP",
                             .actual = "IP datagrams between REQ and REP",
                             .facts = {{FACT_EARLY_DATA, .connection = c}}};
    uint32_t to_requester = c->requester.flow.early_frame,
             to_responder = c->responder.flow.early_frame;
    bool by_responder = to_requester > c->req_frame;
    uint32_t frame = by_responder ? to_requester : to_responder;
    report_of_port(s, &r, c->endport[by_responder ? 1 : 0], frame, frame <= c->req_frame);
}

static void on_rep(const struct check_context *s, const struct cm *cm, const struct connection *c)
{
    if (c->rep_frame != s->p->at.frame)
        return;
    check_early(s, cm, c);
    suspicions_answered(s->suspicions, c, cm);
    check_private_qpn(s, c, false);
    check_crossing(s, cm, c);
}

/*
 * The UD QPN in an RTU, REJ, MRA, or repeated REQ or REP. If the sender's first REQ or REP had the
 * same QPN, it was checked there: one fault, one finding.
 */
static void check_last_qpn(const struct check_context *s, const struct connection *c)
{
    const struct port *at[] = {&c->requester.flow.id.port, &c->responder.flow.id.port};
    bool by_requester = port_same(s->p->src, *at[0]);
    const struct connection_side *side = by_requester ? &c->requester : &c->responder;
    if (by_requester != port_same(s->p->src, *at[1]) &&
        !(side->has_private && side->ud_qpn == s->p->mad.private.ud_qpn))
        check_private_qpn(s, c, by_requester);
}

/* Is it a message for check_last_qpn()? */
static bool has_last_qpn(const struct check_context *s, const struct cm *cm,
                         const struct connection *c)
{
    uint32_t frame = s->p->at.frame;
    switch (cm->message) {
    case CM_REQ:
        return c->req_frame != frame;
    case CM_REP:
        return c->rep_frame != frame;
    case CM_RTU:
        return c->rtu_frame == frame;
    case CM_REJ:
        return c->rej_frame == frame;
    case CM_MRA:
        return cm->which <= CM_MRA_REP;
    default:
        return false;
    }
}

/* The responder rejects. A REJ of the requester shows no decision about the crossing. */
static bool is_first_refusal(const struct check_context *s, const struct cm *cm,
                             const struct connection *c)
{
    return cm->message == CM_REJ && c->rej_frame == s->p->at.frame && !c->rep_frame &&
           !connection_is_by_requester(c, cm, s->p->src);
}

static void on_refusal(const struct check_context *s, const struct cm *cm,
                       const struct connection *c)
{
    suspicions_answered(s->suspicions, c, cm);
    check_crossing(s, cm, c);
}

void check_connection_message(const struct check_context *s)
{
    const struct cm *cm = &s->p->mad.cm;
    const struct connection *c = s->p->classification.connection;
    struct reporter each = *s->r;
    if (!c)
        each.reported = NULL; /* of unknown connections every message is reported */
    check_cm(&each, &s->p->mad, c ? c->number : 0);
    check_cm_link(s->r, &s->p->mad, c ? c->pkey : s->p->ib.pkey);
    if (!c)
        return;
    if (cm->message == CM_REQ)
        on_req(s, c);
    else if (cm->message == CM_REP)
        on_rep(s, cm, c);
    else if (is_first_refusal(s, cm, c))
        on_refusal(s, cm, c);
    if (c->rtu_frame == s->p->at.frame)
        check_before_rtu(s, c);
    if (has_last_qpn(s, cm, c))
        check_last_qpn(s, c);
}

/*
 * May the REQ be IPoIB's with a wrong Service-ID, whose first byte or whose other bytes differ? If
 * the first byte differs, the private data or the QPN must be IPoIB's.
 */
static bool may_be_ipoib(const struct check_context *s, const struct cm *cm)
{
    if (cm->message != CM_REQ || cm_service_is_near_ipoib(cm->service_id))
        return cm->message == CM_REQ;
    return cm_service_has_qpn(cm->service_id) &&
           (cm_private_is_ipoib(s->p->mad.bytes, cm) ||
            qpns_find(s->f->qpns, &s->p->dst, cm_service_qpn(cm->service_id)));
}

void check_other_service(const struct check_context *s, const struct cm *cm)
{
    if (may_be_ipoib(s, cm))
        report_inconclusive(
            s->r, R_RFC4755_3_5_SERVICE_ID, NULL,
            "IPoIB's or another service's: the requester's address was not captured");
}

/* ---- teardown */

/* The frame in which the port asked to leave the broadcast group; 0: not known. */
static uint32_t down_frame(const struct check_context *s, const struct endport *port, uint16_t pkey)
{
    uint32_t frame = 0;
    for (const struct group *b = groups_broadcasts(s->f->groups, port->interface, pkey); b;
         b = b->next) {
        const struct member *m = groups_member(s->f->groups, b, port);
        frame = m ? MAX(frame, m->stopped_frame) : frame;
    }
    return frame;
}

static struct result teardown_of(const struct connection *c)
{
    return (struct result){
        .rule = R_RFC4755_3_4_TEARDOWN,
        .about = about(c, 0),
        .expected = "a DREQ when its interface goes down",
        .actual = "the interface left the broadcast group, the connection stayed",
        .facts = {{FACT_OPEN, .connection = c}},
        .dropped = READ_GROUP | READ_MEMBER}; /* which only name the frame */
}

static const struct endport *end_that_left(const struct connection *c)
{
    return c->endport[c->requester.left ? 0 : 1];
}

void check_teardown(const struct check_context *s, const struct connection *c)
{
    const struct endport *left = end_that_left(c);
    const struct result r = teardown_of(c);
    report_of_port(s, &r, left, down_frame(s, left, c->pkey), !connection_is_open(c));
}

/* The capture ends before a packet of either end shows that no DREQ of it is missing. */
static void report_stayed(const struct check_context *s, const struct connection *c)
{
    enum { AT_END = 1 }; /* no other result has this value */
    const struct endport *left = end_that_left(c);
    const struct result r = teardown_of(c);
    const struct sender sender = sender_of_port(left);
    struct reporter reporter = *s->r;
    const char *missing = why_not_open(s, c);
    reporter.sender = &sender;
    reporter.frame = down_frame(s, left, c->pkey);
    reporter.interface = left->interface;
    if (!is_new(&reporter, r.rule, &r.about, AT_END))
        return;
    if (missing)
        report_inconclusive(&reporter, r.rule, NULL, missing);
    else
        report_unproved(&reporter, r.rule, &r.about, r.expected, r.actual,
                        "waits for the next SA request or CM message of an end of the connection: "
                        "the capture ends before it");
}

void check_teardowns_at_end(const struct check_context *s)
{
    for (unsigned i = 0; i < connections_count(s->f->connections); i++) {
        const struct connection *c = connections_at(s->f->connections, i);
        if (connection_stayed(c, &s->f->order.clocks))
            report_stayed(s, c);
    }
}

/* ---- data */

/* IP on a connection that both ends have ended, with DREQ and DREP, or its sender with a DREQ. */
static void check_ended(const struct check_context *s, const struct connection *c)
{
    const struct ib_packet *ib = &s->p->ib;
    bool by_sender = connection_is_ended_by(c, !s->p->classification.to_requester);
    const char *actual = c->drep_frame ? "IP after the DREP" : "IP after the sender's DREQ";
    const struct result r = {.rule = R_RFC4755_2_3_CONNECTION_BEFORE_IP,
                             .about = about(c, CM_DREP),
                             .at = {ib->payload.p, ib->payload.cap},
                             .expected = c->drep_frame
                                             ? "no IP: both ends have ended the connection"
                                             : "no IP: the sender has ended the connection",
                             .actual = actual,
                             .facts = {{FACT_ENDED, .connection = c}}};
    if (c->rep_frame && c->dreq_frame && (c->drep_frame || by_sender) &&
        encap_begins_message(ib->payload, ib->position == IB_FIRST))
        report_result(s, &r);
}

/*
 * Was the REQ refused, or the REP? Then there is no connection. Data of the requester, as the RTU,
 * would have allowed that of the responder (IBA 12.9.8.2).
 */
static bool is_refused(const struct check_context *s, const struct connection *c)
{
    bool may_send = s->p->classification.to_requester && c->responder.flow.sequence.first_frame;
    return c->requester.refused ? !may_send : c->rej_frame && !c->rep_frame;
}

static void ip_after_rej(const struct check_context *s, const struct connection *c)
{
    const struct ib_packet *ib = &s->p->ib;
    const struct result r = {.rule = R_RFC4755_2_3_CONNECTION_BEFORE_IP,
                             .about = about(c, CM_REJ),
                             .at = {ib->payload.p, ib->payload.cap},
                             .expected = "no IP: the connection was refused",
                             .actual = "IP after the REJ",
                             .facts = {{FACT_REFUSED, .connection = c}}};
    /* if the payload does not look like IPoIB, another program may use the QPN by now */
    if (encap_begins_message(ib->payload, ib->position == IB_FIRST))
        report_result(s, &r);
}

/* IP on a queue pair whose connection is not known. */
static void check_unknown(const struct check_context *s)
{
    const struct ib_packet *ib = &s->p->ib;
    const struct result r = {.rule = R_RFC4755_2_3_CONNECTION_BEFORE_IP,
                             .about = entity_qp(port_to_lid(s->p->dst), ib->dqpn),
                             .at = {ib->payload.p, ib->payload.cap},
                             .expected = "no IP: no connection was set up",
                             .actual = "IP on a queue pair without a connection",
                             .facts = {{FACT_ENDED, .connection = NULL}}};
    if (s->p->classification.is_released)
        report_inconclusive(s->r, r.rule, NULL,
                            "the PSN is not one of the connection that was set up for the queue "
                            "pair: its packets are not judged as those of the connection");
    else if (s->p->classification.is_recognised)
        report_result(s, &r);
}

static void check_open(const struct check_context *s, const struct connection *c)
{
    if (c->responder.flow.sequence.first_frame == s->p->at.frame)
        check_before_rtu(s, c);
    if (is_refused(s, c))
        ip_after_rej(s, c);
    check_ended(s, c);
    for (unsigned i = 0; i < s->e->count; i++)
        if (s->e->list[i].kind == SUBNET_TEARDOWN)
            check_teardown(s, c);
}

/*
 * Size of the message in bytes, with the encapsulation header. From its IP header if this is the
 * first of several packets; in a later one, what has been sent of it.
 */
static uint64_t message_bytes(const struct packet *p)
{
    const struct ib_packet *ib = &p->ib;
    uint32_t reported = encap_datagram_length(ib->payload);
    if (ib->position == IB_MIDDLE || ib->position == IB_LAST)
        return p->classification.fragment.bytes;
    return ib->position == IB_ONLY || !reported ? ib->payload.len : reported + ENCAP_SIZE;
}

static void describe_message(const struct check_context *s, const struct result *r, char *expected,
                             char *actual)
{
    g_snprintf(expected, RESULT_TEXT, "at most %u bytes of IP", (unsigned)r->value);
    g_snprintf(actual, RESULT_TEXT, "%s%" PRIu64 " bytes",
               s->p->ib.position == IB_MIDDLE ? "at least " : "", message_bytes(s->p) - ENCAP_SIZE);
}

static void check_message_size(const struct check_context *s, const struct connection *c)
{
    uint32_t mtu = connection_mtu(c);
    if (mtu && message_bytes(s->p) <= mtu + ENCAP_SIZE) {
        report_pass(s->r, R_RFC4755_5_1_CONNECTION_MTU);
        return;
    }
    const struct result r = {.rule = R_RFC4755_5_1_CONNECTION_MTU,
                             .about = about(c, s->p->classification.to_requester),
                             .value = mtu,
                             .is_code = true,
                             .at = {s->p->ib.payload.p, s->p->ib.payload.cap},
                             .describe = describe_message,
                             .facts = {{FACT_RECEIVE_MTUS, .connection = c}}};
    report_result(s, &r);
}

/*
 * A Middle or Last packet. The message may be longer than the length in its IP header, and other
 * Ethertypes, as well as jumbograms (RFC 2675), have none there.
 */
void check_connection_part(const struct check_context *s)
{
    const struct connection *c = s->p->classification.connection;
    uint32_t mtu = c ? connection_mtu(c) : 0;
    bool is_part = s->p->classification.class == PAYLOAD_FRAGMENT &&
                   (s->p->ib.position == IB_MIDDLE || s->p->ib.position == IB_LAST);
    if (is_part && mtu && !connection_is_over(c) && message_bytes(s->p) > mtu + ENCAP_SIZE)
        check_message_size(s, c);
}

static bool goes_to_many(uint16_t type, struct view ip)
{
    if (type == TYPE_IPV4 && view_has(ip, IPV4_DESTINATION, IPV4_ADDRESS_SIZE) == WIRE_OK)
        return ip.p[IPV4_DESTINATION] >> 4 == 0xe || be32(ip.p + IPV4_DESTINATION) == 0xffffffffu;
    return type == TYPE_IPV6 && view_has(ip, IPV6_DESTINATION, IPV6_ADDRESS_SIZE) == WIRE_OK &&
           ip.p[IPV6_DESTINATION] == 0xff;
}

/*
 * May the destination be the broadcast address of the sender's subnet? Its host bits are all ones
 * (RFC 919 §7), and the rest is the sender's. The mask is not in the packet. With fewer than 8 host
 * bits, too many hosts' addresses look like this.
 */
static bool may_be_directed_broadcast(uint16_t type, struct view ip)
{
    if (type != TYPE_IPV4 || view_has(ip, IPV4_DESTINATION, IPV4_ADDRESS_SIZE) != WIRE_OK)
        return false;
    uint32_t source = be32(ip.p + IPV4_SOURCE), destination = be32(ip.p + IPV4_DESTINATION);
    uint32_t ones = destination & ~(destination + 1); /* the ones at its end */
    return ones >= 0xff && ((source ^ destination) & ~ones) == 0;
}

static void check_multicast_over_ud(const struct check_context *s, uint16_t type, struct view ip,
                                    bool to_many)
{
    if (!to_many && may_be_directed_broadcast(type, ip))
        report_inconclusive(s->r, R_RFC4755_2_1_MULTICAST_OVER_UD, ip.p + IPV4_DESTINATION,
                            "the subnet mask is not known: the destination may be the subnet's "
                            "broadcast address");
    else
        expect_that(s->r, R_RFC4755_2_1_MULTICAST_OVER_UD, !to_many, ip.p, ip.cap, "over UD",
                    "multicast or broadcast over a connection");
}

/* Inverse ARP (RFC 2390) is ARP with other operations. */
static const char *arp_name(uint16_t operation, bool *is_reply)
{
    *is_reply = operation == ARP_REPLY || operation == INARP_REPLY;
    switch (operation) {
    case ARP_REPLY:
        return "ARP reply";
    case INARP_REPLY:
        return "InARP reply";
    case INARP_REQUEST:
        return "InARP request";
    default:
        return "ARP request";
    }
}

/*
 * Name of an address-resolution message whose transport the RFCs specify; NULL: not one of them.
 * *is_reply: it is a reply.
 */
static const char *resolution(uint16_t type, struct view d, bool *is_reply)
{
    struct view icmpv6;
    if (type == TYPE_ARP && view_has(d, 0, ARP_SIZE_FIXED) == WIRE_OK)
        return arp_name(be16(d.p + ARP_OP), is_reply);
    if (type != TYPE_IPV6 || !nd_in_ipv6(d, &icmpv6) || icmpv6.cap == 0)
        return NULL;
    *is_reply = icmpv6.p[0] == ND_NA;
    return icmpv6.p[0] == ND_NS ? "NS" : *is_reply ? "NA" : NULL;
}

/*
 * RFC 4755 §7 requires UD for replies; for requests §3 only mentions it. A reply is reported once
 * for each connection of the QP, because known deviations depend on the connection. c NULL: not
 * known.
 */
static void check_resolution(const struct check_context *s, const struct connection *c,
                             const char *what, bool is_reply)
{
    uint64_t reply = (uintptr_t)what + ((uint64_t)(c ? c->number : 0) << 32);
    struct entity qp = entity_qp(port_to_lid(s->p->dst), s->p->ib.dqpn);
    if (!is_reply) {
        report_note(s->r, R_RFC4755_3_QUERY_ON_BROADCAST, &qp, (uintptr_t)what, s->p->ib.payload.p,
                    s->p->ib.payload.cap, "a request over a connection: %s over %s", what,
                    s->p->ib.transport == IB_RC ? "RC" : "UC");
        return;
    }
    if (!is_new(s->r, R_RFC4755_7_RESOLUTION_OVER_UD, &qp, reply))
        return;
    char actual[32];
    g_snprintf(actual, sizeof actual, "%s over %s", what,
               s->p->ib.transport == IB_RC ? "RC" : "UC");
    report_fail_about(s->r, R_RFC4755_7_RESOLUTION_OVER_UD, &qp, s->p->ib.payload.p,
                      s->p->ib.payload.cap, "over UD", actual);
}

static void check_minimum_mtu(const struct check_context *s, const struct connection *c)
{
    uint32_t mtu = connection_mtu(c);
    const struct result r = {.rule = R_RFC4755_5_MINIMUM_MTU,
                             .about = about(c, TYPE_IPV6),
                             .at = {s->p->datagram.bytes.p + ENCAP_TYPE, 2},
                             .expected = "at least 1280 bytes for IPv6",
                             .actual = "less than 1280 bytes",
                             .facts = {{FACT_RECEIVE_MTUS, .connection = c}}};
    if (mtu >= IPV6_MTU_MIN)
        report_pass_about(s->r, r.rule, &r.about);
    else if (mtu)
        report_result(s, &r);
}

static void check_ip(const struct check_context *s, const struct connection *c)
{
    const struct datagram *d = &s->p->datagram;
    struct view ip = d->body;
    uint16_t type = d->encap.type;
    if (d->header != WIRE_OK || !encapsulation_fits(d))
        return;
    bool is_reply = false, to_many = goes_to_many(type, ip);
    const char *what = resolution(type, ip, &is_reply);
    if (what && !to_many)
        check_resolution(s, c, what, is_reply);
    if (type == TYPE_IPV4 || type == TYPE_IPV6)
        check_multicast_over_ud(s, type, ip, to_many);
    if (c && type == TYPE_IPV6)
        check_minimum_mtu(s, c);
}

static void note_services(const struct check_context *s)
{
    struct entity qp = entity_qp(port_to_lid(s->p->dst), s->p->ib.dqpn);
    if (qpns_find(s->f->qpns, &s->p->dst, s->p->ib.dqpn))
        report_note(s->r, R_TRANSPORT_SERVICES, &qp, s->p->ib.transport,
                    s->r->base + s->p->ib.bth_off, 1,
                    "a QP of the UD service takes connected packets");
}

void check_connection_data(const struct check_context *s)
{
    const struct connection *c = s->p->classification.connection;
    if (c)
        check_open(s, c);
    else
        check_unknown(s);
    if (c && !connection_is_over(c))
        check_message_size(s, c);
    check_ip(s, c);
    note_services(s);
}
