/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/question.h"

#include <arpa/inet.h>

struct analysis {
    const struct fabric_facts *facts;
    struct undone *undone;
    struct event_table *events;
    struct questions *questions;
    analysis_report *report;
    void *user;
};

struct analysis *analysis_new(struct fabric *fabric, analysis_report *report, void *user)
{
    struct analysis *a = g_new0(struct analysis, 1);
    a->facts = fabric_facts(fabric);
    a->undone = fabric_undone(fabric);
    a->events = event_table_new(a->undone);
    a->questions = g_new0(struct questions, 1);
    a->report = report;
    a->user = user;
    return a;
}

void analysis_free(struct analysis *a)
{
    if (!a)
        return;
    event_table_free(a->events);
    g_free(a->questions);
    g_free(a);
}

struct event_table *analysis_events(const struct analysis *a)
{
    return a->events;
}

struct event_table *analysis_take_events(struct analysis *a)
{
    struct event_table *events = a->events;
    a->events = event_table_new(a->undone);
    return events;
}

/* ---- an event */

struct event_key event_key(const struct watch *w, enum event_kind kind, const uint8_t *who,
                           const uint8_t *about, uint64_t number)
{
    struct event_key key = {.kind = kind, .subnet = w->p->at.interface, .number = number};
    if (who)
        memcpy(key.who, who, sizeof key.who);
    if (about)
        memcpy(key.about, about, sizeof key.about);
    return key;
}

/* A copy of the last packet with this event: a tap, or a second capture point, has it twice. */
static bool is_copy(const struct link_event *known, const struct packet *p)
{
    return p->ib.has_bth && known->psn == p->ib.psn;
}

static void note_packet(struct link_event *event, const struct packet *p)
{
    event->count++;
    event->last_frame = p->at.frame;
    event->psn = p->ib.psn;
}

static void add_event(const struct watch *w, struct link_event *event, const struct sender *who,
                      uint32_t cause)
{
    event->frame = w->p->at.frame;
    event->ns = w->p->at.ns;
    event->cause_frame = cause;
    event->who = *who;
    note_packet(event, w->p);
    if (w->a->report)
        w->a->report(w->a->user, event);
}

void watch_event(const struct watch *w, const struct event_key *key, const struct sender *who,
                 uint32_t cause, const char *format, ...)
{
    struct link_event *event = event_table_find(w->a->events, key);
    va_list arguments;
    if (packet_is_corrupt(w->p) || (event && is_copy(event, w->p)))
        return;
    if (event) {
        note_packet(event, w->p);
        return;
    }
    event = event_table_add(w->a->events, key);
    if (!event)
        return;
    va_start(arguments, format);
    event->what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    add_event(w, event, who, cause);
}

bool watch_has_event(const struct watch *w, const struct event_key *key)
{
    return event_table_find(w->a->events, key) != NULL;
}

/* ---- texts */

struct sender sender_of_endport(const struct endport *port)
{
    const struct endport *now = endport_of(port);
    struct sender sender = {.known = 0};
    if (now && now->lid) {
        sender.lid = now->lid;
        sender.known |= SENDER_LID;
    }
    if (now && endport_has_gid(now)) {
        memcpy(sender.gid, now->gid, GID_SIZE);
        sender.known |= SENDER_GID;
    }
    return sender;
}

struct sender sender_of_lid(const struct watch *w, uint16_t lid)
{
    struct sender sender = sender_of_endport(
        endports_by_lid(w->f->endports, w->p->at.interface, lid));
    sender.lid = lid;
    sender.known |= SENDER_LID;
    return sender;
}

struct sender sender_with_ip(struct sender s, const struct ip *ip)
{
    memcpy(s.ip, ip->bytes, ip->length);
    s.ip_length = ip->length;
    return s;
}

const char *text_of_gid(char text[GID_TEXT], const uint8_t *gid)
{
    return inet_ntop(AF_INET6, gid, text, GID_TEXT);
}

/* ---- a packet */

static void watch_mad(const struct watch *w)
{
    const struct mad_payload *m = &w->p->mad;
    if (w->e->count) {
        watch_managers(w);
        watch_refused_requests(w);
    }
    if (!m->has_header)
        return;
    if (m->kind == MAD_KIND_SA) {
        watch_sa_requests(w);
        watch_notice(w);
    } else if (m->kind == MAD_KIND_CM) {
        watch_connection_message(w);
    } else if (m->kind == MAD_KIND_SMP) {
        watch_smp(w);
    }
}

static void watch_datagram(const struct watch *w)
{
    const struct datagram *d = &w->p->datagram;
    if (!packet_begins_message(w->p) || d->header != WIRE_OK)
        return;
    if (d->encap.type == TYPE_ARP || d->icmpv6.p) {
        watch_holders(w);
        watch_address_requests(w);
    }
    watch_echo(w);
}

void analysis_packet(struct analysis *a, const struct packet *p, const struct events *e)
{
    const struct watch w = {a, a->facts, p, e, a->questions};
    enum payload_class class = p->classification.class;
    question_hear(&w);
    if (class == PAYLOAD_MAD)
        watch_mad(&w);
    else if (class == PAYLOAD_IPOIB || class == PAYLOAD_FRAGMENT)
        watch_datagram(&w);
    else if (p->classification.connection)
        watch_acknowledge(&w);
    if (a->questions->n_open)
        watch_open_echos(&w);
}
