/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/question.h"
#include "analysis/twins.h"

struct analysis {
    struct undone *undone;
    struct event_sink sink;
    struct watch watch; /* with the current packet */
};

struct analysis *analysis_new(struct fabric *fabric, analysis_report *report, void *user)
{
    struct analysis *a = g_new0(struct analysis, 1);
    a->undone = fabric_undone(fabric);
    a->sink = (struct event_sink){event_table_new(a->undone), report, user};
    a->watch = (struct watch){
        .sink = &a->sink,
        .f = fabric_facts(fabric),
        .questions = g_new0(struct questions, 1),
        .twins = g_new0(struct twins, 1),
        .lids = lids_new(),
        .links = links_new(),
        .sa_times = sa_times_new(),
        .rc = rc_flows_new(),
        .echo_sizes = echo_sizes_new(),
        .receivers = receivers_new(),
        .pkey_tables = pkey_tables_new(),
        .small_paths = small_paths_new(),
        .headers = headers_new(),
        .loops = loops_new(),
        .missing_groups = missing_groups_new(),
        .routing_loops = routing_loops_new(),
        .group_qkeys = group_qkeys_new(),
        .size_errors = size_errors_new(),
        .tcp = tcp_flows_new(),
    };
    return a;
}

void analysis_free(struct analysis *a)
{
    if (!a)
        return;
    event_table_free(a->sink.events);
    g_free(a->watch.questions);
    g_free(a->watch.twins);
    g_free(a->watch.lids);
    g_free(a->watch.links);
    g_free(a->watch.sa_times);
    g_free(a->watch.rc);
    g_free(a->watch.echo_sizes);
    receivers_free(a->watch.receivers);
    g_free(a->watch.pkey_tables);
    g_free(a->watch.small_paths);
    g_free(a->watch.headers);
    g_free(a->watch.loops);
    g_free(a->watch.missing_groups);
    g_free(a->watch.routing_loops);
    g_free(a->watch.group_qkeys);
    g_free(a->watch.size_errors);
    g_free(a->watch.tcp);
    g_free(a);
}

struct event_table *analysis_events(const struct analysis *a)
{
    return a->sink.events;
}

struct event_table *analysis_take_events(struct analysis *a)
{
    struct event_table *events = a->sink.events;
    a->sink.events = event_table_new(a->undone);
    return events;
}

/* ---- a packet */

static void watch_subnet_event(const struct watch *w, const struct subnet_event *e)
{
    watch_lid_of_event(w, e);
    watch_managers(w, e);
    watch_refused_requests(w, e);
    watch_group_record(w, e);
    watch_members(w, e);
    watch_pkey_table(w, e);
    watch_path_of_event(w, e);
}

static void watch_mad(const struct watch *w)
{
    const struct mad_payload *m = &w->p->mad;
    for (unsigned i = 0; i < w->e->count; i++)
        watch_subnet_event(w, &w->e->list[i]);
    if (!m->has_header)
        return;
    if (m->kind == MAD_KIND_SA) {
        watch_sa_times(w);
        watch_sa_requests(w);
        watch_notice(w);
    } else if (m->kind == MAD_KIND_CM) {
        watch_connection_message(w);
    } else if (m->kind == MAD_KIND_SMP) {
        watch_smp(w);
        watch_smp_requests(w);
        watch_links(w);
        watch_width(w);
        watch_operational_vls(w);
    } else {
        watch_mad_requests(w);
        watch_counters(w);
    }
}

static void watch_datagram(const struct watch *w)
{
    const struct datagram *d = &w->p->datagram;
    if (w->p->ib.dgid) {
        watch_lids_of_datagram(w);
        watch_receivers(w);
        watch_sender_pkey(w);
        watch_grh(w);
    }
    watch_path_mtu(w);
    watch_headers(w);
    if (!packet_begins_message(w->p) || d->header != WIRE_OK)
        return;
    if (d->encap.type == TYPE_ARP || d->icmpv6.p) {
        watch_holders(w);
        watch_address_requests(w);
        watch_advertised_mtu(w);
        watch_ipv6_mtu(w);
    }
    watch_ip(w);
    watch_echo(w);
    watch_twins(w);
    watch_detection(w);
    if (d->dhcp_bytes.p)
        watch_dhcp(w);
}

/* A retransmission looks the same as a packet that was captured twice: rc.c tells them apart. */
static void watch_copy(const struct watch *w)
{
    if (w->p->at.ns >= *question_due_ns(w))
        watch_due_questions(w);
    if (w->p->classification.connection && w->p->classification.class != PAYLOAD_MAD)
        watch_rc(w);
    else
        watch_same_again(w);
}

static void watch_packet(const struct watch *w)
{
    enum payload_class class = w->p->classification.class;
    if (w->p->at.ns >= *question_due_ns(w))
        watch_due_questions(w);
    question_hear(w);
    watch_stale_path(w);
    if (class == PAYLOAD_MAD)
        watch_mad(w);
    else if (class == PAYLOAD_IPOIB || class == PAYLOAD_FRAGMENT)
        watch_datagram(w);
    if (w->p->classification.connection && class != PAYLOAD_MAD) {
        watch_connection_data(w);
        watch_rc(w);
    }
    if (w->questions->n_open)
        watch_open_requests(w);
}

void analysis_packet(struct analysis *a, const struct packet *p, const struct events *e)
{
    a->watch.p = p;
    a->watch.e = e;
    if (p->copy_of)
        watch_copy(&a->watch);
    else
        watch_packet(&a->watch);
}
