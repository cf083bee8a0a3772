/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/watch.h"

#include <arpa/inet.h>

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

void watch_take_back(const struct watch *w, const struct link_event *event, uint64_t count)
{
    struct link_event *e = event_table_own(w->sink->events, event);
    e->count = count;
    if (count)
        return;
    e->taken_back = true;
    if (w->sink->report)
        w->sink->report(w->sink->user, e);
    event_table_remove(w->sink->events, e);
}

static void add_event(const struct watch *w, struct link_event *event, const struct sender *who,
                      uint32_t cause)
{
    event->frame = w->p->at.frame;
    event->ns = w->p->at.ns;
    event->cause_frame = cause;
    event->who = *who;
    note_packet(event, w->p);
    if (w->sink->report)
        w->sink->report(w->sink->user, event);
}

void watch_event(const struct watch *w, const struct event_key *key, const struct sender *who,
                 uint32_t cause, const char *format, ...)
{
    struct link_event *event = event_table_find(w->sink->events, key);
    va_list arguments;
    if (packet_is_corrupt(w->p) || (event && is_copy(event, w->p)))
        return;
    w->sink->last = event;
    if (event) {
        note_packet(event, w->p);
        return;
    }
    w->sink->last = event = event_table_add(w->sink->events, key);
    if (!event)
        return;
    va_start(arguments, format);
    event->what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    add_event(w, event, who, cause);
}

void watch_no_copy(const struct watch *w, const struct event_key *key)
{
    struct link_event *event = event_table_find(w->sink->events, key);
    if (event)
        event->psn = UINT32_MAX;
}

bool watch_has_event(const struct watch *w, const struct event_key *key)
{
    return event_table_find(w->sink->events, key) != NULL;
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
