/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/judge.h"

#include "model/fabric.h"
#include "wire/carrier.h"
#include "wire/encap.h"
#include "wire/mgid.h"
#include "wire/nd.h"

struct judge {
    struct fabric *fabric;
    judge_report *report;
    void *user;
    uint32_t frame;
};

struct judge *judge_new(judge_report *report, void *user)
{
    struct judge *j = g_new0(struct judge, 1);
    j->fabric = fabric_new();
    j->report = report;
    j->user = user;
    return j;
}

void judge_free(struct judge *j)
{
    if (!j)
        return;
    fabric_free(j->fabric);
    g_free(j);
}

static void pass_on(void *user, const struct finding *f)
{
    struct judge *j = user;
    j->report(j->user, j->frame, f);
}

static void judge_datagram(const struct reporter *r, uint16_t type, struct view datagram)
{
    struct view icmpv6;
    if (type == TYPE_ARP || type == TYPE_RARP)
        check_arp(r, datagram);
    else if (type == TYPE_IPV6 && nd_in_ipv6(datagram, &icmpv6))
        check_nd(r, icmpv6);
}

static void judge_payload(const struct reporter *r, struct view payload, bool connected)
{
    struct encap e;
    check_encapsulation(r, payload, connected);
    if (encap_decode(payload, &e) == WIRE_OK)
        judge_datagram(r, e.type, view_from(payload, ENCAP_SIZE));
}

/* Membership records: every MGID that is asked for, or told of by the SA, is of the record's own P_Key. */
static void judge_sa(const struct reporter *r, struct view mad)
{
    struct sa sa;
    bool have_mad;
    if (sa_decode(mad, &sa, &have_mad) != WIRE_OK || sa.mad.attribute != SA_MC_MEMBER_RECORD || sa.data.cap < MCM_SIZE)
        return;
    bool single = sa.mad.method != SA_GET_TABLE && sa.mad.method != SA_GET_TABLE_RESP && sa.mad.status == 0;
    if (single && sa_says(&sa, MCM_HAS_MGID) && sa_says(&sa, MCM_HAS_PKEY))
        check_mgid(r, sa.data.p + MCM_MGID, be16(sa.data.p + MCM_PKEY));
}

static void judge_cm(struct judge *j, const struct reporter *r, const struct packet *p)
{
    struct cm cm;
    bool have_ids;
    if (cm_decode(p->ib.payload, &cm, &have_ids) != WIRE_OK)
        return;
    const struct connection *c = connections_message(j->fabric->connections, j->frame, &cm, p->ib.payload, &p->src, &p->dst);
    if (c ? connection_is_ipoib(c) : cm_service_is_ipoib(cm.service))
        check_cm(r, p->ib.payload, &cm);
}

static void judge_packet(struct judge *j, struct view v, enum ib_start start)
{
    struct reporter r = {pass_on, j, v.p};
    struct packet p;
    packet_read(&p, v, start, NULL, NULL);
    fabric_classify(j->fabric, &p);
    switch (p.verdict.class) {
    case PAYLOAD_MAD:
        judge_sa(&r, p.ib.payload);
        judge_cm(j, &r, &p);
        break;
    case PAYLOAD_IPOIB:
        if (p.ib.transport == IB_UD)
            check_datagram_headers(&r, &p.ib);
        judge_payload(&r, p.ib.payload, p.ib.transport != IB_UD);
        break;
    case PAYLOAD_PART: /* a First holds the header; of the rest nothing is judged */
        if (p.verdict.part.index == 0 && p.verdict.part.verdict != STREAM_ORPHAN)
            check_encapsulation(&r, p.ib.payload, true);
        break;
    case PAYLOAD_NONE:
    case PAYLOAD_OTHER:
    case PAYLOAD_FOREIGN:
        break;
    }
}

void judge_frame(struct judge *j, int linktype, struct view frame)
{
    struct carrier c;
    j->frame++;
    if (carrier_locate(linktype, frame, &c) != WIRE_OK)
        return;
    struct reporter r = {pass_on, j, c.inner.p};
    switch (c.kind) {
    case CARRIER_IB:
        judge_packet(j, c.inner, c.start);
        break;
    case CARRIER_IPOIB:
        judge_payload(&r, c.inner, false);
        break;
    case CARRIER_COOKED:
        judge_datagram(&r, c.type, c.inner);
        break;
    case CARRIER_NONE:
        break;
    }
}
