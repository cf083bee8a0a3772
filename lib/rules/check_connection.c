/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of a connection over its lifetime: set-up, crossing requests, data, teardown (RFC 4755
 * §2.3, 3.2 to 3.5, 5, 7).
 */
#include "rules/scene.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/ip.h"
#include "wire/nd.h"

enum { IPV6_MTU_MIN = 1280 }; /* RFC 8200 §5 */

static struct subject about(const struct connection *c, uint32_t what)
{
    struct subject s = subject_connection(c->number);
    s.other = what;
    return s;
}

/* ---- set-up */

/*
 * Is a QPN in a CM message, said to be of that port, the UD QPN in one of the port's link-layer
 * addresses on the partition?
 */
static void check_told_qpn(const struct scene *s, enum rule_number rule, const struct connection *c,
                           const struct endport *port, uint32_t qpn, const uint8_t *p)
{
    struct subject subject = about(c, s->p->at.frame);
    char actual[24];
    if (!port || qpn == 0)
        return;
    enum announced announced = endport_announced(port, c->pkey, qpn);
    if (announced == ANNOUNCED_ANOTHER && !endport_is_followed(port))
        /* the port may have had another address before the capture began */
        announced = ANNOUNCED_UNKNOWN;
    switch (announced) {
    case ANNOUNCED:
        pass(s->r, rule);
        break;
    case ANNOUNCED_ANOTHER:
        g_snprintf(actual, sizeof actual, "QPN 0x%06x", qpn);
        fail_about(s->r, rule, &subject, p, 3, "the QPN of a link-layer address of that port",
                   actual);
        break;
    case ANNOUNCED_UNKNOWN:
        inconclusive(s->r, rule, p, "the port's link-layer address was not seen");
        break;
    }
}

static void on_req(const struct scene *s, const struct cm *cm, const struct connection *c)
{
    const uint8_t *mad = s->p->ib.payload.p;
    if (c->req_frame != s->p->at.frame)
        return; /* a repeated REQ */
    check_told_qpn(s, R_RFC4755_3_5_SERVICE_ID, c, c->endport[1], cm_service_qpn(c->service_id),
                   mad + REQ_SERVICE_ID + 5);
    if (c->requester.has_private)
        check_told_qpn(s, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, c, c->endport[0],
                       c->requester.ud_qpn, mad + cm->private_off + CM_PRIVATE_UD_QPN);
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

/* The first response to a REQ that crossed another: the side with the smaller address accepts. */
static void check_crossing(const struct scene *s, const struct cm *cm, const struct connection *c)
{
    struct subject subject = about(c, cm->message);
    /* other reasons do not concern the crossing */
    bool decides = cm->message == CM_REP || cm->reason == CM_REJ_CONSUMER;
    if (!c->crossed || !decides || !c->requester.has_private || !c->endport[0] || !c->endport[1])
        return;
    int local = compare_addresses(cm_service_qpn(c->service_id), c->endport[1], c->requester.ud_qpn,
                                  c->endport[0]);
    bool accepts = cm->message == CM_REP, should_accept = local < 0;
    if (accepts == should_accept) {
        pass_about(s->r, R_RFC4755_3_3_SIMULTANEOUS, &subject);
        return;
    }
    fail_about(s->r, R_RFC4755_3_3_SIMULTANEOUS, &subject, s->p->ib.payload.p + MAD_ATTRIBUTE, 2,
               should_accept ? "REP: the local address is the smaller one"
                             : "REJ, reason 28: the local address is the larger one",
               accepts ? "REP" : "REJ, reason 28");
}

/*
 * IP data before the REP. Data from the responder is captured in order with its REP. Data from the
 * requester may be captured before the REP although it was sent after it.
 */
static void check_early(const struct scene *s, const struct cm *cm, const struct connection *c)
{
    struct subject subject = about(c, cm->message);
    uint32_t to_responder = c->responder.flow.early_frame;
    bool by_responder = c->requester.flow.early_frame > c->req_frame,
         by_requester = to_responder > c->req_frame;
    if (by_requester && !by_responder && order_is_uncertain(&s->f->order, to_responder))
        inconclusive(s->r, R_RFC4755_2_3_CONNECTION_BEFORE_IP, NULL,
                     "the REP may have come before the IP: they are too close to each other");
    else
        expect_about(s->r, R_RFC4755_2_3_CONNECTION_BEFORE_IP, &subject,
                     !by_responder && !by_requester, NULL, 0, "IP behind the REP",
                     "IP came between REQ and REP");
}

static void on_rep(const struct scene *s, const struct cm *cm, const struct connection *c)
{
    if (c->rep_frame != s->p->at.frame)
        return;
    check_early(s, cm, c);
    if (c->responder.has_private)
        check_told_qpn(s, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, c, c->endport[1],
                       c->responder.ud_qpn,
                       s->p->ib.payload.p + cm->private_off + CM_PRIVATE_UD_QPN);
    check_crossing(s, cm, c);
}

void check_connection_message(const struct scene *s)
{
    const struct cm *cm = &s->p->mad.cm;
    const struct connection *c = s->p->verdict.connection;
    struct reporter each = *s->r;
    if (!c)
        each.told = NULL; /* of unknown connections every message is reported */
    check_cm(&each, &s->p->mad, c ? c->number : 0);
    if (!c)
        return;
    if (cm->message == CM_REQ)
        on_req(s, cm, c);
    else if (cm->message == CM_REP)
        on_rep(s, cm, c);
    else if (cm->message == CM_REJ && c->rej_frame == s->p->at.frame && !c->rep_frame)
        check_crossing(s, cm, c);
}

/* ---- teardown */

/* Was a GSI packet of either end not captured since the REP? */
static bool lacks_messages(const struct connection *c)
{
    for (unsigned i = 0; i < 2; i++)
        if (!c->endport[i] || c->endport[i]->gap_frame > c->rep_frame)
            return true;
    return false;
}

void check_teardown(const struct scene *s, const struct connection *c)
{
    struct subject subject = about(c, 0);
    if (connection_is_open(c) && lacks_messages(c)) {
        inconclusive(s->r, R_RFC4755_3_4_TEARDOWN, NULL, "its DREQ may not have been captured");
        return;
    }
    expect_about(s->r, R_RFC4755_3_4_TEARDOWN, &subject, !connection_is_open(c), NULL, 0,
                 "a DREQ when its interface goes down",
                 "the interface left the broadcast group, the connection stayed");
}

/* ---- data */

static void check_open(const struct scene *s, const struct connection *c)
{
    struct subject subject = about(c, CM_REJ);
    const struct ib_packet *ib = &s->p->ib;
    /* if the payload does not look like IPoIB, another program may use the QPN by now */
    if (c->rej_frame && !c->rep_frame &&
        encap_begins_message(ib->payload, ib->position == IB_FIRST))
        expect_about(s->r, R_RFC4755_2_3_CONNECTION_BEFORE_IP, &subject, false, s->p->ib.payload.p,
                     s->p->ib.payload.cap, "no IP: the connection was refused", "IP after the REJ");
    for (unsigned i = 0; i < s->e->count; i++)
        if (s->e->list[i].kind == SUBNET_TEARDOWN)
            check_teardown(s, c);
}

/*
 * Size of the message in bytes, with the encapsulation header; from its IP header if this is the
 * first of several packets.
 */
static uint32_t message_octets(const struct ib_packet *ib)
{
    uint32_t told = encap_datagram_length(ib->payload);
    return ib->position == IB_ONLY || !told ? ib->payload.len : told + ENCAP_SIZE;
}

static void check_message(const struct scene *s, const struct connection *c)
{
    uint32_t octets = message_octets(&s->p->ib), mtu = connection_mtu(c);
    char expected[48], actual[32];
    if (!mtu) {
        inconclusive(s->r, R_RFC4755_5_1_CONNECTION_MTU, NULL, "the Receive MTUs were not seen");
        return;
    }
    if (octets <= mtu + ENCAP_SIZE) {
        pass(s->r, R_RFC4755_5_1_CONNECTION_MTU);
        return;
    }
    g_snprintf(expected, sizeof expected, "at most %u octets of IP", mtu);
    g_snprintf(actual, sizeof actual, "%u octets", octets - ENCAP_SIZE);
    fail(s->r, R_RFC4755_5_1_CONNECTION_MTU, s->p->ib.payload.p, s->p->ib.payload.cap, expected,
         actual);
}

static bool goes_to_many(uint16_t type, struct view ip)
{
    if (type == TYPE_IPV4 && view_has(ip, IPV4_DESTINATION, IPV4_ADDRESS_SIZE) == WIRE_OK)
        return ip.p[IPV4_DESTINATION] >> 4 == 0xe || be32(ip.p + IPV4_DESTINATION) == 0xffffffffu;
    return type == TYPE_IPV6 && view_has(ip, IPV6_DESTINATION, IPV6_ADDRESS_SIZE) == WIRE_OK &&
           ip.p[IPV6_DESTINATION] == 0xff;
}

/*
 * Name of an address-resolution message whose transport the RFCs specify; NULL: not one of them.
 * *answers: it is a reply.
 */
static const char *resolution(uint16_t type, struct view d, bool *answers)
{
    struct view icmpv6;
    if (type == TYPE_ARP && view_has(d, 0, ARP_SIZE_FIXED) == WIRE_OK) {
        *answers = be16(d.p + ARP_OP) == ARP_REPLY;
        return *answers ? "ARP reply" : "ARP request";
    }
    if (type != TYPE_IPV6 || !nd_in_ipv6(d, &icmpv6) || icmpv6.cap == 0)
        return NULL;
    *answers = icmpv6.p[0] == ND_NA;
    return icmpv6.p[0] == ND_NS ? "NS" : *answers ? "NA" : NULL;
}

/* RFC 4755 §7 requires UD for replies; for requests §3 only mentions it. */
static void check_resolution(const struct scene *s, const char *what, bool answers)
{
    struct subject qp = subject_qp(port_to_lid(s->p->dst), s->p->ib.dqpn);
    if (!answers) {
        note(s->r, R_RFC4755_3_QUERY_ON_BROADCAST, &qp, (uintptr_t)what, s->p->ib.payload.p,
             s->p->ib.payload.cap, "a question over a connection: %s over %s", what,
             s->p->ib.transport == IB_RC ? "RC" : "UC");
        return;
    }
    if (!is_news(s->r, R_RFC4755_7_RESOLUTION_OVER_UD, &qp, (uintptr_t)what))
        return;
    char actual[32];
    g_snprintf(actual, sizeof actual, "%s over %s", what,
               s->p->ib.transport == IB_RC ? "RC" : "UC");
    fail_about(s->r, R_RFC4755_7_RESOLUTION_OVER_UD, &qp, s->p->ib.payload.p, s->p->ib.payload.cap,
               "over UD", actual);
}

static void check_ip(const struct scene *s, const struct connection *c)
{
    const struct datagram *d = &s->p->datagram;
    struct view ip = d->body;
    uint16_t type = d->encap.type;
    if (d->header != WIRE_OK)
        return;
    bool answers = false;
    const char *what = resolution(type, ip, &answers);
    if (what)
        check_resolution(s, what, answers);
    if (type == TYPE_IPV4 || type == TYPE_IPV6)
        expect_that(s->r, R_RFC4755_2_1_MULTICAST_OVER_UD, !goes_to_many(type, ip), ip.p, ip.cap,
                    "over UD", "multicast or broadcast over a connection");
    uint32_t mtu = c ? connection_mtu(c) : 0;
    if (type == TYPE_IPV6 && mtu) {
        struct subject subject = about(c, TYPE_IPV6);
        expect_about(s->r, R_RFC4755_5_MINIMUM_MTU, &subject, mtu >= IPV6_MTU_MIN, NULL, 0,
                     "at least 1280 octets for IPv6", "less than 1280 octets");
    }
}

static void note_services(const struct scene *s)
{
    struct subject qp = subject_qp(port_to_lid(s->p->dst), s->p->ib.dqpn);
    if (qpns_find(s->f->qpns, &s->p->dst, s->p->ib.dqpn))
        note(s->r, R_TRANSPORT_SERVICES, &qp, s->p->ib.transport, s->r->base + s->p->ib.bth_off, 1,
             "a QP of the UD service takes connected packets");
}

void check_connection_data(const struct scene *s)
{
    const struct connection *c = s->p->verdict.connection;
    if (c)
        check_open(s, c);
    if (c && !connection_is_over(c))
        check_message(s, c);
    check_ip(s, c);
    note_services(s);
}
