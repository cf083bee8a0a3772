/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of one host for one address that follow each other much faster than a host may ask: once
 * in a second (RFC 1122 section 2.3.2.1, RFC 4861 section 7.2.2). Whether they are answered does
 * not matter. A search of many addresses asks for each only a few times.
 */
#include "analysis/unanswered.h"

enum { STORM = 100, WITHIN_MS = 2000 };

APART static void storm(const struct watch *w, const struct question *q)
{
    struct ip from = ip_of_key(q->key.who), to = ip_of_key(q->key.about);
    struct sender who = sender_at(w, w->p->ib.slid, &from);
    char target[SENDER_TEXT_SIZE];
    const struct event_key key = event_key(w, EVENT_REQUEST_STORM, q->key.who, q->key.about,
                                           q->key.requester);
    watch_event(w, &key, &who, q->rate_frame,
                "it has asked for the address of %s %u times within %u s, since frame %u",
                ip_text(target, &to), q->rate_times, WITHIN_MS / 1000, q->rate_frame);
}

void watch_request_rate(const struct watch *w, struct question *q)
{
    int64_t ms = watch_ms(w);
    if (!q->rate_times || ms < q->rate_ms || ms - q->rate_ms > WITHIN_MS) {
        q->rate_ms = ms;
        q->rate_frame = w->p->at.frame;
        q->rate_times = 0;
    }
    if (++q->rate_times >= STORM)
        storm(w, q);
}
