/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/forwarding.h"
#include "analysis/path_sls.h"
#include "analysis/sa_requests.h"
#include "analysis/shared_lids.h"
#include "analysis/smps.h"
#include "analysis/twins.h"
#include "wire/mgid.h"
#include "wire/nd.h"

struct analysis {
    struct watch watch; /* with the current packet */
    struct undone *undone;
    struct event_sink sink;
    struct wake wake;
    uint16_t usual_pkey;
};

struct analysis *analysis_new(struct fabric *fabric, analysis_report *report, void *user)
{
    struct analysis *a = g_new0(struct analysis, 1);
    a->undone = fabric_undone(fabric);
    a->wake.ns = INT64_MAX;
    a->sink = (struct event_sink){event_table_new(a->undone), report, user, NULL};
    a->watch = (struct watch){
        .sink = &a->sink,
        .f = fabric_facts(fabric),
        .wake = &a->wake,
        .usual_pkey = &a->usual_pkey,
        .questions = questions_new(),
        .transactions = g_new0(struct transactions, 1),
        .twins = g_new0(struct twins, 1),
        .receivers = receivers_new(),
        .shared_lids = g_new0(struct shared_lids, 1),
#define HISTORY(type, member, make) .member = make(),
#include "analysis/histories.def"
#undef HISTORY
    };
    return a;
}

void analysis_free(struct analysis *a)
{
    if (!a)
        return;
    event_table_free(a->sink.events);
    g_free(a->watch.questions);
    g_free(a->watch.transactions);
    g_free(a->watch.twins);
#define HISTORY(type, member, make) g_free(a->watch.member);
#include "analysis/histories.def"
#undef HISTORY
    receivers_free(a->watch.receivers);
    g_free(a->watch.shared_lids);
    g_free(a);
}

struct event_table *analysis_events(const struct analysis *a)
{
    return a->sink.events;
}

struct event_table *analysis_take_events(struct analysis *a)
{
    struct event_table *events = a->sink.events;
    a->watch.questions->doubts.count = 0;
    receivers_forget_events(a->watch.receivers);
    a->sink.events = event_table_new(a->undone);
    return events;
}

/* ---- a packet */

static inline bool is_of_broadcast_group(const struct subnet_event *e)
{
    return mgid_is_ipoib(e->group->mgid) && mgid_is_broadcast(e->group->mgid);
}

APART static void watch_special_record(const struct watch *w, const struct subnet_event *e)
{
    if (e->kind == SUBNET_JOINED && e->member && !changes_member(e))
        watch_join_again(w, e);
    if (is_of_broadcast_group(e)) {
        watch_link_mtu(w, e->group);
        watch_group_record(w, e);
        watch_shared_mlid(w, e);
    }
}

OFTEN APART static void watch_record(const struct watch *w, const struct subnet_event *e)
{
    bool changes = changes_member(e);
    if (!e->group)
        return;
    if (!changes || is_of_broadcast_group(e))
        watch_special_record(w, e);
    if (changes && e->kind == SUBNET_JOINED)
        watch_more_copies(w, e->group);
    if (changes)
        watch_join_state(w, e);
}

APART static void watch_join_of_new(const struct watch *w, const struct subnet_event *e)
{
    if (!lid_is_seen(w, e->endport, SIGHTING_JOIN))
        watch_lid_of(w, e->endport, SIGHTING_JOIN);
    watch_shared_join(w, e);
    watch_members(w, e);
}

OFTEN APART static void watch_asked_join(const struct watch *w, const struct subnet_event *e)
{
    if (lid_is_seen(w, e->endport, SIGHTING_JOIN) && !w->shared_lids->any)
        watch_members(w, e);
    else
        watch_join_of_new(w, e);
}

APART static void watch_refusal(const struct watch *w, const struct subnet_event *e)
{
    watch_refused_requests(w, e);
    if (e->kind == SUBNET_JOIN_REFUSED)
        watch_refused_join(w, e);
    else
        watch_members(w, e);
}

OFTEN APART static void watch_port(const struct watch *w, const struct subnet_event *e)
{
    if (!lid_is_seen(w, e->endport, SIGHTING_PORT_INFO))
        watch_lid_of(w, e->endport, SIGHTING_PORT_INFO);
    watch_shared_lid(w, e);
}

static inline void watch_record_of_path(const struct watch *w, const struct subnet_event *e)
{
    watch_sl_of_path(w, e);
    watch_path_of_event(w, e);
}

APART static void watch_path_to_new(const struct watch *w, const struct subnet_event *e)
{
    watch_lid_of(w, e->endport, SIGHTING_PATH);
    watch_record_of_path(w, e);
}

OFTEN APART static void watch_path(const struct watch *w, const struct subnet_event *e)
{
    if (lid_is_seen(w, e->endport, SIGHTING_PATH))
        watch_record_of_path(w, e);
    else
        watch_path_to_new(w, e);
}

/* Each kind of event has its watchers; the others look for nothing in it. */
APART static void watch_subnet_event(const struct watch *w, const struct subnet_event *e)
{
    switch (e->kind) {
    case SUBNET_JOIN_ASKED:
        watch_asked_join(w, e);
        break;
    case SUBNET_PORT_INFO:
        watch_port(w, e);
        break;
    case SUBNET_PATH:
        watch_path(w, e);
        break;
    case SUBNET_JOINED:
    case SUBNET_GROUP_RECORD:
        watch_record(w, e);
        break;
    case SUBNET_JOIN_REFUSED:
    case SUBNET_LEAVE_REFUSED:
        watch_refusal(w, e);
        break;
    case SUBNET_SA_MOVED:
    case SUBNET_SM_SECOND:
        watch_managers(w, e);
        break;
    case SUBNET_PKEYS:
        watch_pkey_table(w, e);
        break;
    case SUBNET_GROUP_MISSING:
    case SUBNET_GROUP_DELETED:
        watch_empty_group(w, e);
        break;
    default:
        watch_members(w, e);
    }
}

/* port: id 0: not known. */
APART static void watch_port_info(const struct watch *w, struct port port)
{
    const struct subnet_event *e = port_info_event(w);
    struct port_info i;
    bool is_whole = smp_port_info(&w->p->mad.smp, &i) == WIRE_OK;
    if (is_whole && e)
        watch_port_state(w, e, &i);
    watch_operational_vls(w);
    if (!is_whole || !port.id)
        return;
    watch_link(w, port, &i);
    watch_width(w, port, &i);
}

OFTEN APART static void watch_node_info(const struct watch *w)
{
    if (!packet_is_corrupt(w->p))
        watch_node_at_route(w);
    watch_node(w);
}

/* port: as of watch_port_info(). */
static inline void watch_smp_attribute(const struct watch *w, struct port port)
{
    switch (w->p->mad.mad.attribute) {
    case SMP_PORT_INFO:
        watch_port_info(w, port);
        break;
    case SMP_PKEY_TABLE:
        watch_pkey_block(w);
        break;
    case SMP_SM_INFO:
        watch_sm_info(w);
        break;
    case SMP_NODE_INFO:
        watch_node_info(w);
        break;
    case SMP_LINEAR_TABLE:
    case SMP_MULTICAST_TABLE:
        watch_forwarding(w);
        break;
    case SMP_SL_TO_VL:
        watch_sl_to_vl(w);
        break;
    default:
        break;
    }
}

APART static void watch_several_events(const struct watch *w)
{
    for (unsigned i = 0; i < w->e->count; i++)
        watch_subnet_event(w, &w->e->list[i]);
}

/* Most packets have one. */
static inline void watch_subnet_events(const struct watch *w)
{
    if (w->e->count == 1)
        watch_subnet_event(w, &w->e->list[0]);
    else
        watch_several_events(w);
}

OFTEN APART static void watch_smp(const struct watch *w)
{
    uint8_t method = w->p->mad.mad.method;
    if (w->e->count)
        watch_subnet_events(w);
    const struct port port = smp_port(w);
    if (method == SMP_TRAP)
        watch_smp_trap(w);
    if (port.id && method == SMP_GET_RESP && w->p->mad.mad.status)
        watch_refused_smp(w, port);
    if (!(method & MAD_RESPONSE) && !packet_is_corrupt(w->p))
        watch_request_on_route(w);
    if (method != SMP_GET) /* which has no values */
        watch_smp_attribute(w, port);
    if (port.id && method == SMP_GET_RESP)
        watch_smp_response(w, port);
    else if (port.id)
        watch_smp_request(w, port);
}

static inline void watch_smp_get(const struct watch *w)
{
    watch_request_on_route(w);
    const struct port port = smp_port_on_route(w);
    if (port.id)
        watch_smp_request(w, port);
}

/* A Get of which the model has found that it is not corrupt, and learnt nothing. */
static inline bool is_plain_get(const struct watch *w)
{
    const struct packet *p = w->p;
    return p->mad.mad.method == SMP_GET && p->integrity.known &&
           p->integrity.is != INTEGRITY_CORRUPT && !w->e->count;
}

APART static void watch_smp_on_new_route(const struct watch *w)
{
    watch_route(w);
    watch_smp(w);
}

OFTEN APART static void watch_subnet_management(const struct watch *w)
{
    if (!watch_route_again(w))
        watch_smp_on_new_route(w);
    else if (is_plain_get(w))
        watch_smp_get(w);
    else
        watch_smp(w);
}

APART static void watch_sa_events(const struct watch *w)
{
    watch_subnet_events(w);
    watch_sa_requests(w);
}

static inline void watch_subnet_administration(const struct watch *w)
{
    if (w->e->count)
        watch_sa_events(w);
    else
        watch_sa_requests(w);
}

/* Performance management, and classes of vendors. */
APART static void watch_other_management(const struct watch *w)
{
    watch_mad_requests(w);
    watch_counters(w);
}

/* A packet of management. */
static inline void watch_mad(const struct watch *w)
{
    const struct mad_payload *m = &w->p->mad;
    if (!m->has_header)
        return;
    if (m->kind == MAD_KIND_SA)
        watch_subnet_administration(w);
    else if (m->kind == MAD_KIND_CM)
        watch_connection_message(w);
    else if (m->kind == MAD_KIND_SMP)
        watch_subnet_management(w);
    else
        watch_other_management(w);
}

/* It may answer a question, or prove that it has no answer, as that time has come. */
APART static void watch_management(const struct watch *w)
{
    watch_mad(w);
    if (w->p->at.ns >= w->questions->proof_ns)
        watch_open_requests(w);
}

OFTEN APART static void watch_datagram_to_group(const struct watch *w)
{
    watch_packet_prefixes(w);
    watch_lids_of_datagram(w);
    watch_receivers(w);
    watch_sender_pkey(w);
    watch_sender_scope(w);
    watch_grh(w);
    watch_group_packet(w);
    if (packet_is_corrupt(w->p))
        return;
    watch_group_source(w);
    watch_broadcaster(w);
}

OFTEN APART static void watch_arp(const struct watch *w)
{
    watch_holders(w);
    watch_reply_lid(w);
    watch_address_requests(w);
    watch_twins(w);
}

APART static void watch_advertisement(const struct watch *w)
{
    watch_advertised_hop_limit(w);
    watch_router_advertisement(w);
    watch_advertised_mtu(w);
}

APART static void watch_neighbour_discovery(const struct watch *w)
{
    watch_holders(w);
    watch_nd_hop_limit(w);
    watch_address_requests(w);
    if (w->p->datagram.icmpv6.p[0] == ND_RA)
        watch_advertisement(w);
    else if (w->p->datagram.icmpv6.p[0] == ND_REDIRECT)
        watch_nd_redirect(w);
}

static bool is_neighbour_discovery(struct view icmpv6)
{
    return icmpv6.cap && icmpv6.p[0] >= ND_RS && icmpv6.p[0] <= ND_REDIRECT;
}

OFTEN APART static void watch_icmpv6(const struct watch *w)
{
    bool is_nd = is_neighbour_discovery(w->p->datagram.icmpv6);
    if (is_nd)
        watch_neighbour_discovery(w);
    if (watch_is_alert(w, ALERT_SMALL_LINKS))
        watch_ipv6_mtu(w);
    watch_ip(w);
    watch_twins(w);
    if (is_nd || watch_is_alert(w, ALERT_CONFLICT))
        watch_detection(w);
}

APART static void watch_other_ip(const struct watch *w)
{
    const struct datagram *d = &w->p->datagram;
    watch_ip(w);
    watch_twins(w);
    if (d->encap.type == TYPE_IPV6 && watch_is_alert(w, ALERT_CONFLICT))
        watch_detection(w);
    if (d->dhcp_bytes.p)
        watch_dhcp(w);
}

APART static void watch_whole_message(const struct watch *w)
{
    const struct datagram *d = &w->p->datagram;
    if (d->encap.type == TYPE_ARP)
        watch_arp(w);
    else if (d->icmpv6.p)
        watch_icmpv6(w);
    else
        watch_other_ip(w);
}

static inline bool has_message(const struct packet *p)
{
    return packet_begins_message(p) && p->datagram.header == WIRE_OK;
}

/* The datagrams before had another P_Key, or none of them had the right one for sure. */
static inline bool has_other_pkey(const struct watch *w)
{
    return w->p->ib.pkey != *w->usual_pkey;
}

APART static void watch_alerts(const struct watch *w)
{
    if (watch_is_alert(w, ALERT_NO_RECEIVERS))
        watch_sa_host(w);
    if (watch_is_alert(w, ALERT_SMALL_PATHS))
        watch_path_mtu(w);
    if (watch_is_alert(w, ALERT_UNHEARD))
        watch_heard_answer(w);
}

APART static void watch_special_datagram(const struct watch *w)
{
    if (w->p->ib.dgid)
        watch_datagram_to_group(w);
    if (w->wake->alerts)
        watch_alerts(w);
    if (has_unusual_headers(w))
        watch_headers(w);
    if (!has_message(w->p))
        return;
    if (sl_may_differ(w))
        watch_sl(w);
    if (has_other_pkey(w))
        watch_unicast_pkey(w);
    watch_whole_message(w);
}

APART static void watch_sampled_message(const struct watch *w)
{
    if (!watch_sample(w))
        watch_whole_message(w);
}

static inline void watch_unless(const struct watch *w, enum ordinary is)
{
    if (is == NOT_ORDINARY)
        watch_whole_message(w);
    else if (is == ORDINARY_IF_SUM)
        watch_sampled_message(w);
}

OFTEN APART static void watch_ipv4(const struct watch *w)
{
    watch_unless(w, watch_ordinary_ipv4(w));
}

OFTEN APART static void watch_ipv6(const struct watch *w)
{
    watch_unless(w, watch_ordinary_ipv6(w));
}

static inline void watch_message(const struct watch *w)
{
    if (w->p->datagram.encap.type == TYPE_IPV4)
        watch_ipv4(w);
    else if (w->p->datagram.encap.type == TYPE_IPV6)
        watch_ipv6(w);
    else
        watch_whole_message(w);
}

OFTEN APART static void watch_message_with_other_pkey(const struct watch *w)
{
    watch_unicast_pkey(w);
    watch_message(w);
}

/* The packet has plain headers. */
static inline void watch_plain_datagram(const struct watch *w)
{
    if (!has_message(w->p))
        return;
    if (has_other_pkey(w))
        watch_message_with_other_pkey(w);
    else
        watch_message(w);
}

OFTEN APART static void watch_datagram(const struct watch *w)
{
    if (w->wake->alerts || !has_plain_headers(w->p))
        watch_special_datagram(w);
    else
        watch_plain_datagram(w);
}

static bool is_ipoib(const struct classification *c)
{
    return c->class == PAYLOAD_IPOIB || c->class == PAYLOAD_FRAGMENT;
}

static inline void watch_connection_packet(const struct watch *w)
{
    if (is_ipoib(&w->p->classification))
        watch_datagram(w);
    watch_connection_data(w);
    watch_rc(w);
}

/* A retransmission looks the same as a packet that was captured twice: rc.c tells them apart. */
APART static void watch_copy(const struct watch *w)
{
    const struct classification *c = &w->p->classification;
    w->times->seen_ns = w->p->at.ns;
    if (w->p->at.ns >= *question_due_ns(w))
        watch_due_questions(w);
    if (is_ipoib(c) && !c->connection)
        watch_loop(w);
    if (!c->connection || c->class == PAYLOAD_MAD)
        watch_same_again(w);
    else if (connection_is_ipoib(c->connection))
        watch_rc(w);
}

OFTEN APART static void watch_data(const struct watch *w)
{
    const struct classification *c = &w->p->classification;
    if (c->connection && connection_is_ipoib(c->connection))
        watch_connection_packet(w);
    else if (is_ipoib(c))
        watch_datagram(w);
}

/* A time has run out: of an answer, or until which no packet proves an event. */
APART static void watch_times(const struct watch *w)
{
    if (w->p->at.ns >= *question_due_ns(w))
        watch_due_questions(w);
    if (w->p->at.ns >= w->questions->proof_ns && w->p->classification.class != PAYLOAD_MAD)
        watch_open_requests(w);
    w->wake->ns = w->wake->alerts ? INT64_MIN : question_next_wake(w->questions);
}

/* A time has run out, or an earlier packet makes something possible (enum alert). */
APART static void watch_rare_packet(const struct watch *w)
{
    if (w->p->at.ns >= w->wake->ns)
        watch_times(w);
    if (watch_is_alert(w, ALERT_DOUBTS))
        watch_doubts(w);
    if (watch_is_alert(w, ALERT_LIDS))
        watch_stale_path(w);
    if (question_may_pause(w))
        question_note_pause(w);
    question_hear(w);
    if (w->p->classification.class == PAYLOAD_MAD)
        watch_management(w);
    else
        watch_data(w);
}

/* No time has run out, and no earlier packet makes anything possible. */
static inline bool is_calm(const struct analysis *a)
{
    const struct watch *w = &a->watch;
    return w->p->at.ns < a->wake.ns && !question_may_pause(w);
}

static inline bool is_unconnected_datagram(const struct packet *p)
{
    const struct classification *c = &p->classification;
    return c->class == PAYLOAD_IPOIB && !c->connection;
}

/*
 * Most datagrams go from one port to one other, have no GRH and carry UDP that concerns nobody. A
 * call is the last thing that these functions do: then they save no register for it.
 */
static inline void watch_packet(const struct analysis *a)
{
    const struct watch *w = &a->watch;
    if (!is_calm(a)) {
        watch_rare_packet(w);
        return;
    }
    question_hear(w);
    if (w->p->classification.class == PAYLOAD_MAD)
        watch_mad(w);
    else if (!is_unconnected_datagram(w->p))
        watch_data(w);
    else if (has_plain_headers(w->p))
        watch_plain_datagram(w);
    else
        watch_special_datagram(w);
}

OFTEN void analysis_packet(struct analysis *a, const struct packet *p, const struct events *e)
{
    a->watch.p = p;
    a->watch.e = e;
    a->watch.times = &a->watch.questions->times[(size_t)p->at.interface % WAITING_SUBNETS];
    if (p->copy_of)
        watch_copy(&a->watch);
    else
        watch_packet(a);
}
