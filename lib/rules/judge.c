/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/judge.h"

#include "rules/postpone.h"
#include "rules/scene.h"
#include "wire/carrier.h"
#include "wire/encap.h"
#include "wire/mgid.h"
#include "wire/nd.h"

struct judge {
    struct fabric *fabric;
    bool own_fabric;
    const struct deviations *known;
    struct told *told;
    struct postponed *postponed;
    judge_report *report;
    void *user;
    uint32_t frame;
    const struct packet *packet; /* at hand; NULL: of a carrier without InfiniBand headers */
    const char *message;         /* the Neighbour Discovery message at hand, "" for another */
};

struct judge *judge_new(struct fabric *fabric, const struct deviations *known, judge_report *report,
                        void *user)
{
    struct judge *j = g_new0(struct judge, 1);
    j->own_fabric = fabric == NULL;
    j->fabric = fabric ? fabric : fabric_new();
    j->known = known;
    j->told = told_new();
    j->postponed = postponed_new();
    j->report = report;
    j->user = user;
    j->message = "";
    return j;
}

void judge_free(struct judge *j)
{
    if (!j)
        return;
    if (j->own_fabric)
        fabric_free(j->fabric);
    told_free(j->told);
    postponed_free(j->postponed);
    g_free(j);
}

/* Nobody sent what a corrupt packet says. */
static bool is_corrupt(void *user)
{
    const struct judge *j = user;
    return j->packet && packet_is_corrupt(j->packet);
}

static void pass_on(void *user, const struct finding *f)
{
    struct judge *j = user;
    if ((f->outcome == OUTCOME_FAIL || f->outcome == OUTCOME_NOTED) && is_corrupt(j)) {
        struct finding unknown = {f->rule,    OUTCOME_INCONCLUSIVE,
                                  0,          0,
                                  "",         "the packet is damaged: its ICRC is wrong",
                                  f->subject, ""};
        j->report(j->user, j->frame, &unknown);
        return;
    }
    /* a failure that is known is told as such */
    const struct failure failure = {f->rule, f->expected, f->actual, j->message};
    const char *reason = f->outcome == OUTCOME_FAIL ? deviations_reason(j->known, &failure) : NULL;
    if (!reason) {
        j->report(j->user, j->frame, f);
        return;
    }
    struct finding known = *f;
    known.outcome = OUTCOME_DEVIATION;
    known.reason = reason;
    j->report(j->user, j->frame, &known);
}

static struct reporter reporter(struct judge *j, const uint8_t *base, uint16_t interface)
{
    return (struct reporter){pass_on, is_corrupt, j, base, j->told, interface};
}

/* ---- datagrams */

/* Which message of Neighbour Discovery it is, as lists of known deviations name it. */
static const char *nd_name(uint8_t type)
{
    static const char *const names[] = {"RS", "RA", "NS", "NA", "Redirect"};
    return type >= ND_RS && type <= ND_REDIRECT ? names[type - ND_RS] : "";
}

/* scene NULL: of a carrier without InfiniBand headers. */
static void judge_datagram(const struct reporter *r, const struct scene *scene,
                           const struct datagram *d)
{
    if (d->encap.type == TYPE_ARP || d->encap.type == TYPE_RARP) {
        check_arp(r, d);
        if (scene)
            check_arp_scene(scene, d);
    } else if (d->icmpv6.p) {
        struct judge *j = r->user;
        j->message = view_has(d->icmpv6, 0, 1) == WIRE_OK ? nd_name(d->icmpv6.p[0]) : "";
        check_nd(r, d->icmpv6);
        if (scene)
            check_nd_scene(scene, d);
        j->message = "";
    } else if (d->dhcp_octets.p) {
        check_dhcp(r, d);
    }
}

static void judge_payload(const struct reporter *r, const struct scene *scene,
                          const struct datagram *d, bool connected)
{
    check_encapsulation(r, d, connected);
    if (d->header == WIRE_OK)
        judge_datagram(r, scene, d);
}

static void learn_qp(struct judge *j, const struct packet *p)
{
    const struct ib_packet *ib = &p->ib;
    struct qp *qp = qpns_find(j->fabric->qpns, &p->src, ib->sqpn);
    if (qp)
        qp_sent(qp, ib->psn, p->at.frame);
    bool same_keys = qp && qp->pkey == ib->pkey && qp->qkey == ib->qkey;
    bool group = ib->dgid && mgid_is_ipoib(ib->dgid);
    uint8_t before = qp && qp->pkey == ib->pkey ? qp->scope : 0;
    uint8_t scope = group ? ib->dgid[MGID_FLAGS_SCOPE] & 0x0f : before;
    if ((same_keys && qp->scope == scope) || packet_is_corrupt(p))
        return;
    bool is_new = !qp;
    qp = qpns_learn(j->fabric->qpns, &p->src, ib->sqpn);
    if (!qp)
        return;
    if (is_new)
        qp_sent(qp, ib->psn, p->at.frame);
    qp->pkey = ib->pkey;
    qp->qkey = ib->qkey;
    qp->scope = scope;
}

static void judge_ud(struct judge *j, const struct scene *s)
{
    const struct ib_packet *ib = &s->p->ib;
    check_datagram_headers(s->r, ib, &s->p->datagram);
    check_transmission(s);
    if (ib->dgid && mgid_is_ipoib(ib->dgid))
        check_multicast(s);
    else if (!ib_is_multicast(ib))
        check_unicast(s);
    judge_payload(s->r, s, &s->p->datagram, false);
    learn_qp(j, s->p);
}

static void judge_connected(const struct scene *s)
{
    const struct packet *p = s->p;
    bool first = p->verdict.class == PAYLOAD_IPOIB ||
                 (p->verdict.part.index == 0 && p->verdict.part.verdict != STREAM_ORPHAN &&
                  p->verdict.part.verdict != STREAM_REPEATED);
    if (!first) /* a First holds the header; of the rest nothing is judged */
        return;
    check_connection_data(s);
    if (p->verdict.class == PAYLOAD_IPOIB)
        judge_payload(s->r, s, &p->datagram, true);
    else
        check_encapsulation(s->r, &p->datagram, true);
}

/* ---- management */

struct watch {
    const struct scene *scene;
    bool ipoib;
};

static void on_subnet_event(void *user, const struct subnet_event *e)
{
    struct watch *w = user;
    w->ipoib |= e->group && mgid_is_ipoib(e->group->mgid);
    uint32_t frame = w->scene->p->at.frame;
    bool asked_again = e->kind == SUBNET_PORT_INFO && e->endport->reregister_frame == frame;
    bool lacks_request = e->kind == SUBNET_GROUP_TOLD && e->endport && !e->request;
    if (lacks_request)
        fabric_doubt(w->scene->f, frame);
    if (asked_again)
        w->scene->f->doubt_frame = frame;
    check_group_event(w->scene, e);
    check_subnet_event(w->scene, e);
}

static void name_foreign(const struct scene *s, const struct cm *cm)
{
    const struct connection *c = s->p->verdict.connection;
    struct subject subject = subject_connection(c ? c->number : 0);
    uint8_t service = c ? c->service : (uint8_t)cm->service;
    if (cm->message == CM_REQ && service != SERVICE_UNKNOWN)
        note(s->r, R_ULP_IDENTIFY, &subject, cm->service_id, s->p->ib.payload.p + REQ_SERVICE_ID, 8,
             "a connection of %s", name_of(cm_service_names, service));
}

enum { QPN_SMI, QPN_GSI };

/* What the SA sends by itself or as an answer: it does not ask. */
static bool is_from_sa(const struct scene *s)
{
    const struct packet *p = s->p;
    uint8_t method = p->mad.sa.mad.method;
    if (port_to_lid(p->src) == subnet_sa_lid(s->f->subnet, p->at.interface))
        return true;
    return p->mad.kind == MAD_KIND_SA && p->mad.has_header &&
           (method == SA_REPORT || (method & MAD_RESPONSE && method != SA_REPORT_RESP));
}

/*
 * The GSI's packet, and what it shows of those before. true: none that it sent since the port's
 * last one is missing.
 */
static bool follow_gsi(const struct scene *s, struct endport *port)
{
    const struct packet *p = s->p;
    bool begins_late = (!port || !port->gsi_psn) && p->ib.psn != 0;
    bool whole = port && endport_gsi_sent(port, p->ib.psn, p->at.frame);
    bool missed = port && port->gap_frame == p->at.frame;
    if ((begins_late || missed) && !is_from_sa(s))
        fabric_doubt(s->f, p->at.frame);
    return whole;
}

static struct endport *find_gsi(const struct scene *s)
{
    uint16_t lid = s->p->ib.sqpn == QPN_GSI ? port_to_lid(s->p->src) : 0;
    return lid ? endports_by_lid(s->f->endports, s->p->at.interface, lid, false) : NULL;
}

static void follow_smi(const struct scene *s)
{
    const struct packet *p = s->p;
    bool whole = false;
    const struct endport *port = subnet_smi_sent(s->f->subnet, &p->mad, &p->src, p->ib.psn,
                                                 p->at.ns, &whole);
    if (port)
        postponed_settle_smi(s, port, whole);
}

static void judge_management(struct judge *j, const struct scene *s, struct watch *w)
{
    const struct packet *p = s->p;
    struct endport *known = find_gsi(s);
    bool gsi = p->ib.sqpn == QPN_GSI && port_to_lid(p->src);
    if (p->ib.sqpn == QPN_SMI)
        follow_smi(s);
    bool whole = gsi && follow_gsi(s, known);
    subnet_mad(j->fabric->subnet, p->at.frame, &p->mad, &p->src, &p->dst, on_subnet_event, w);
    struct endport *port = find_gsi(s);
    if (known)
        postponed_settle(s, known, whole);
    else if (port) /* its packets are counted from this one on */
        endport_gsi_sent(port, p->ib.psn, p->at.frame);
}

/* A REQ that the capture cut: the model does not know its connection. true: it is IPoIB's. */
static bool is_cut_req(const struct packet *p)
{
    const struct mad_payload *m = &p->mad;
    return m->kind == MAD_KIND_CM && m->result == WIRE_TRUNCATED && m->has_header &&
           m->cm.message == CM_REQ && view_has(m->octets, REQ_SERVICE_ID, 8) == WIRE_OK &&
           cm_service_is_ipoib(cm_service_of(be64(m->octets.p + REQ_SERVICE_ID)));
}

static bool judge_mad(struct judge *j, const struct scene *s)
{
    struct watch w = {s, false};
    const struct cm *cm = packet_cm(s->p);
    if (!packet_is_corrupt(s->p))
        judge_management(j, s, &w);
    if (is_cut_req(s->p)) {
        inconclusive(s->r, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, s->p->ib.payload.p,
                     "not captured");
        return true;
    }
    if (!cm)
        return w.ipoib;
    if (!packet_cm_is_ipoib(s->p, cm)) {
        name_foreign(s, cm);
        return false;
    }
    check_connection_message(s);
    return true;
}

/* ---- frames */

bool judge_packet(struct judge *j, const struct packet *p)
{
    struct reporter r = reporter(j, p->octets.p, p->at.interface);
    struct scene s = {&r, j->fabric, p, j->postponed};
    j->frame = p->at.frame;
    j->packet = p;
    switch (p->verdict.class) {
    case PAYLOAD_MAD:
        return judge_mad(j, &s);
    case PAYLOAD_IPOIB:
        if (p->ib.transport == IB_UD)
            judge_ud(j, &s);
        else
            judge_connected(&s);
        return true;
    case PAYLOAD_PART:
        judge_connected(&s);
        return true;
    case PAYLOAD_NONE:
    case PAYLOAD_OTHER:
    case PAYLOAD_FOREIGN:
        break;
    }
    return false;
}

void judge_bare(struct judge *j, uint32_t frame, bool encapsulated, uint16_t type, struct view v)
{
    struct reporter r = reporter(j, v.p, 0);
    j->frame = frame;
    j->packet = NULL;
    struct datagram d;
    if (encapsulated) {
        datagram_decode(v, &d);
        judge_payload(&r, NULL, &d, false);
    } else {
        datagram_decode_body(type, v, &d);
        judge_datagram(&r, NULL, &d);
    }
}

/* false: of one interface too many. */
static bool read_packet(struct fabric *fabric, struct packet *p, const struct capture_frame *f,
                        const struct carrier *c)
{
    struct moment at = {.frame = f->number, .ns = f->ns};
    struct capture_interface captured = {f->interface, c->port};
    if (!interfaces_enter(fabric->interfaces, captured, &at.interface))
        return false;
    struct port src = {0}, dst = {0};
    if (c->outer.length) {
        src = port_ip(at.interface, c->outer.src, c->outer.length);
        dst = port_ip(at.interface, c->outer.dst, c->outer.length);
    }
    packet_read(p, &at, c->inner, c->start, &src, &dst);
    return true;
}

bool judge_frame(struct judge *j, const struct capture_frame *f)
{
    struct carrier c;
    struct packet p;
    if (carrier_locate(f->linktype, f->octets, &c) != WIRE_OK)
        return false;
    switch (c.kind) {
    case CARRIER_IB:
        if (!read_packet(j->fabric, &p, f, &c))
            return false;
        fabric_classify(j->fabric, &p);
        return judge_packet(j, &p);
    case CARRIER_IPOIB:
    case CARRIER_COOKED:
        judge_bare(j, f->number, c.kind == CARRIER_IPOIB, c.type, c.inner);
        return true;
    case CARRIER_NONE:
        break;
    }
    return false;
}
