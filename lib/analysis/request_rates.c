/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of one host for one address that follow each other much faster than a host may ask: once
 * in a second (RFC 1122 section 2.3.2.1, RFC 4861 section 7.2.2). Whether they are answered does
 * not matter. A search of many addresses asks for each only a few times.
 */
#include "analysis/unanswered.h"

enum { RATES = 1 << 6, STORM = 100, WITHIN_MS = 2000 };

/* A cache. */
struct request_rates {
    struct request_rate {
        struct question_key key;
        int64_t since_ms;
        uint32_t frame, times; /* since then */
    } all[RATES];
};

struct request_rates *request_rates_new(void)
{
    return g_new0(struct request_rates, 1);
}

APART static void storm(const struct watch *w, const struct request_rate *r)
{
    struct ip from = ip_of_key(r->key.who), to = ip_of_key(r->key.about);
    struct sender who = sender_at(w, w->p->ib.slid, &from);
    char target[SENDER_TEXT_SIZE];
    const struct event_key key = event_key(w, EVENT_REQUEST_STORM, r->key.who, r->key.about,
                                           r->key.requester);
    watch_event(w, &key, &who, r->frame,
                "it has asked for the address of %s %u times within %u s, since frame %u",
                ip_text(target, &to), r->times, WITHIN_MS / 1000, r->frame);
}

void watch_request_rate(const struct watch *w, const struct question_key *key, unsigned place)
{
    struct request_rate *r = &w->request_rates->all[place & (RATES - 1)];
    int64_t ms = watch_ms(w);
    if (!question_key_same(&r->key, key) || ms < r->since_ms || ms - r->since_ms > WITHIN_MS)
        *r = (struct request_rate){*key, ms, w->p->at.frame, 0};
    if (++r->times >= STORM)
        storm(w, r);
}
