/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/events_add.h"

struct events *events_new(void)
{
    return g_new0(struct events, 1);
}

void events_free(struct events *e)
{
    if (!e)
        return;
    g_free(e->list);
    g_free(e->listeners);
    g_free(e);
}

void events_clear(struct events *e)
{
    e->count = e->listener_count = 0;
    e->sender = NULL;
    e->gsi = e->smi = NULL;
    e->gsi_whole = e->smi_whole = e->sa_sent = false;
    e->has_sender_qp = e->has_duplicate = false;
    e->sender_seen = SEEN_NONE;
}

void events_add(struct events *e, const struct subnet_event *event)
{
    if (e->count == e->room) {
        e->room = e->room ? 2 * e->room : 8;
        e->list = g_renew(struct subnet_event, e->list, e->room);
    }
    e->list[e->count++] = *event;
}

struct listener *events_add_listener(struct events *e)
{
    if (e->listener_count == e->listener_room) {
        e->listener_room = e->listener_room ? 2 * e->listener_room : 8;
        e->listeners = g_renew(struct listener, e->listeners, e->listener_room);
    }
    struct listener *l = &e->listeners[e->listener_count++];
    *l = (struct listener){.member = NULL};
    return l;
}
