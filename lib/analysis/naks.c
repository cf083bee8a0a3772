/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NAKs that end a connection (IBA 9.7.5.2.8). */
#include "analysis/ends.h"

static const struct name nak_names[] = {
    {1, "invalid request"},
    {2, "remote access error"},
    {3, "remote operational error"},
    {4, "invalid RD request"},
    {0, NULL},
};

void watch_nak(const struct watch *w, uint8_t code)
{
    const struct packet *p = w->p;
    const struct connection *c = p->classification.connection;
    bool from_requester = !p->classification.to_requester;
    struct sender who = sender_of_side(w, c, !from_requester);
    const char *name = names_find(nak_names, code);
    char other[SENDER_TEXT_SIZE];
    const struct event_key key = key_of_ends(w, EVENT_CONNECTION_LOST, c, 8 + code);
    watch_event(w, &key, &who, c->req_frame,
                "%s answers a packet of the connection with NAK %u, %s",
                end_text(w, c, from_requester, other), code, name ? name : "unknown");
}
