/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hosts that answer pings a second or more late, many in a row: a host that has no time left, or
 * packets that wait on the way. A host that stood still once answers what has waited all at once. A
 * host behind a router may be far away: its replies have a smaller TTL than they began with.
 */
#include "analysis/echo.h"
#include "rules/check_context.h"

/* A cache. */
enum { HOSTS = 1 << 6 };
enum { SLOW_MS = 1000, PROMPT_MS = 500, RECENT_MS = 60000, TIMES = 5, OVER_MS = 10000 };

struct slow_host {
    uint64_t place;              /* of its address and link; 0: unused */
    uint32_t prompt_frame;       /* the last reply that came at once; 0: none */
    uint32_t times, first_frame; /* late replies since then */
    int64_t first_ms, least_ms;  /* of the first of them; the least delay */
};

struct slow_hosts {
    struct slow_host all[HOSTS];
    /* the last host that answered at once */
    uint64_t prompt;
    uint32_t prompt_frame;
    int64_t prompt_ms;
};

NEW_HISTORY(slow_hosts, slow_hosts_new)

static struct slow_host *host_of(const struct watch *w, const struct echo *e)
{
    struct question_key key = question_key(w, QUESTION_ECHO, packet_link_key(w->p), NULL, NULL);
    memcpy(key.about, e->from.bytes, e->from.length);
    uint64_t place = question_key_hash(&key) | 1;
    struct slow_host *h = &w->slow_hosts->all[place >> 32 & (HOSTS - 1)];
    if (h->place != place)
        *h = (struct slow_host){.place = place};
    return h;
}

static void answers_at_once(const struct watch *w, struct slow_host *h)
{
    struct slow_hosts *all = w->slow_hosts;
    h->prompt_frame = all->prompt_frame = w->p->at.frame;
    h->times = 0;
    all->prompt = h->place;
    all->prompt_ms = watch_ms(w);
}

static void report(const struct watch *w, const struct echo *e, const struct slow_host *h)
{
    struct sender who = sender_of(w->f, w->p);
    struct event_key key = event_key(w, EVENT_HOST_SLOW, NULL, NULL, packet_link_key(w->p));
    bool did = h->prompt_frame != 0;
    memcpy(key.who, e->from.bytes, e->from.length);
    watch_event(w, &key, &who, h->first_frame,
                "it answers late: %u pings in a row since frame %u, each after %.1f s or more; %s "
                "at once in frame %u",
                h->times, h->first_frame, (double)h->least_ms / 1000,
                did ? "before, it answered" : "others answer",
                did ? h->prompt_frame : w->slow_hosts->prompt_frame);
}

/* Did this host answer at once before, or another one a moment ago? */
static bool is_unusual(const struct watch *w, const struct slow_host *h)
{
    const struct slow_hosts *all = w->slow_hosts;
    return h->prompt_frame || (all->prompt_frame && all->prompt != h->place &&
                               watch_ms(w) - all->prompt_ms <= RECENT_MS);
}

static void answers_late(const struct watch *w, const struct echo *e, struct slow_host *h,
                         int64_t delay_ms)
{
    if (!h->times++) {
        h->first_ms = watch_ms(w);
        h->first_frame = w->p->at.frame;
        h->least_ms = delay_ms;
    }
    h->least_ms = MIN(h->least_ms, delay_ms);
    if (h->times >= TIMES && watch_ms(w) - h->first_ms >= OVER_MS && is_unusual(w, h))
        report(w, e, h);
}

void watch_reply_delay(const struct watch *w, const struct echo *e, int64_t delay_ms)
{
    if (w->p->classification.connection || order_is_reversed(&w->f->order) || delay_ms < 0)
        return;
    struct slow_host *h = host_of(w, e);
    if (delay_ms >= SLOW_MS)
        answers_late(w, e, h, delay_ms);
    else if (delay_ms < PROMPT_MS)
        answers_at_once(w, h);
}
