/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers that come, but not always: pings of which some have no reply, and ARP requests that are
 * answered only when they are repeated. The port that is to answer must show no gap in its PSNs, so
 * it has not sent what is missing (answerers.c).
 */
#include "analysis/echo.h"
#include "analysis/question.h"
#include "analysis/unanswered.h"
#include "model/mix.h"

/* ---- pings */

/* A reply may take 3 s; so long a request is kept. A tenth of the pings is lost, and some. */
enum { PAIRS = 1 << 7, KEPT = 16, REPLY_MS = 3000, PAUSE_MS = 10000 };
enum { LOST_MIN = 5, ASKED_MIN = 20, LOST_PART = 10 };

struct ping_pair {
    uint64_t hash; /* 0: unused */
    struct {
        uint64_t number; /* 0: unused, or answered */
        int64_t ms;
        uint32_t frame;
    } kept[KEPT];
    uint64_t early[KEPT]; /* replies that were captured before their requests */
    int64_t last_ms;
    uint32_t asked, lost, first_frame; /* first_frame: of the first that was lost */
    uint32_t in_a_row;
    uint8_t next, next_early;
};

/* Caches. */
struct lossy {
    struct ping_pair pings[PAIRS];
    struct retried_pair {
        uint64_t hash;
        uint32_t times, first_frame;
    } retried[PAIRS];
};

NEW_HISTORY(lossy, lossy_new)

/* A question of ARP or of Neighbour Discovery. */
static uint64_t hash_of(const struct watch *w, const struct question *q)
{
    unsigned length = q->key.kind == QUESTION_ARP ? IPV4_ADDRESS_SIZE : IPV6_ADDRESS_SIZE;
    uint64_t h = mix_two(0, packet_link_key(w->p), length);
    return mix_gid(mix_gid(h, q->key.who), q->key.about) | 1;
}

/* Any gap: also of a connection, or of what a port sends to others. */
static bool has_gap(const struct watch *w, struct port port, uint32_t since)
{
    const struct psn_sender *s = psn_gaps_sender(w->f->psn_gaps, port, PSN_DATA);
    return s && s->any_gap_frame > since;
}

APART static void some_lost(const struct watch *w, const struct echo *e, struct ping_pair *p)
{
    const struct port to = port_lid(w->p->at.interface, w->p->ib.dlid);
    uint32_t first = p->first_frame, lost = p->lost, asked = p->asked;
    p->asked = p->lost = 0;
    const struct port from = port_lid(w->p->at.interface, w->p->ib.slid);
    if (has_gap(w, to, first) || has_gap(w, from, first) || !question_hears_sender(w))
        return;
    struct sender who = sender_at(w, w->p->ib.slid, &e->from);
    struct event_key key = event_key(w, EVENT_ECHO_UNANSWERED, NULL, NULL,
                                     UINT64_C(1) << 32 | packet_link_key(w->p));
    char target[SENDER_TEXT_SIZE];
    memcpy(key.who, e->from.bytes, e->from.length);
    memcpy(key.about, e->to.bytes, e->to.length);
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, first,
                "%u of %u pings to %s have no reply, the first in frame %u; others between them "
                "have one",
                lost, asked, ip_text(target, &e->to), first);
}

/* The oldest request leaves: had it a reply? */
static void leave(struct ping_pair *p, unsigned i, int64_t ms)
{
    bool is_lost = p->kept[i].number != 0;
    if (is_lost && ms - p->kept[i].ms < REPLY_MS)
        return; /* they come too fast */
    p->asked++;
    p->in_a_row = is_lost ? p->in_a_row + 1 : 0;
    if (is_lost && !p->lost++)
        p->first_frame = p->kept[i].frame;
}

static bool has_reply(const struct ping_pair *p, uint64_t number)
{
    for (unsigned i = 0; i < KEPT && p->early[i]; i++)
        if (p->early[i] == number)
            return true;
    return false;
}

/* A host of the link has forwarded it: a gateway, or a load balancer. */
static bool is_asked(const struct ping_pair *p, uint64_t number)
{
    for (unsigned i = 0; i < KEPT && p->kept[i].frame; i++)
        if (p->kept[i].number == number)
            return true;
    return false;
}

static void requested(const struct watch *w, const struct echo *e)
{
    uint64_t hash = e->hash | 1;
    struct ping_pair *p = &w->lossy->pings[hash >> 32 & (PAIRS - 1)];
    int64_t ms = watch_ms(w);
    if (p->hash != hash || ms < p->last_ms || ms - p->last_ms > PAUSE_MS)
        *p = (struct ping_pair){.hash = hash};
    p->last_ms = ms;
    if (is_asked(p, e->number))
        return;
    unsigned i = p->next++ % KEPT;
    if (p->kept[i].frame)
        leave(p, i, ms);
    p->kept[i].number = has_reply(p, e->number) ? 0 : e->number;
    p->kept[i].ms = ms;
    p->kept[i].frame = w->p->at.frame;
    if (p->in_a_row >= QUESTION_ASKED) /* the target is away: echo.c */
        p->asked = p->lost = 0;
    if (p->lost >= LOST_MIN && p->asked >= ASKED_MIN && p->lost * LOST_PART >= p->asked)
        some_lost(w, e, p);
}

static void answered(const struct watch *w, uint64_t hash, uint64_t number)
{
    struct ping_pair *p = &w->lossy->pings[hash >> 32 & (PAIRS - 1)];
    if (p->hash != hash)
        return;
    for (unsigned i = 0; i < KEPT && p->kept[i].frame; i++)
        if (p->kept[i].number == number) {
            p->kept[i].number = 0;
            return;
        }
    p->early[p->next_early++ % KEPT] = number;
}

void lossy_ping_answered(const struct watch *w, const struct ip *from, const struct ip *to,
                         uint64_t number)
{
    const struct question_key key = key_of_ips(w, QUESTION_ECHO, from, to);
    answered(w, question_key_hash(&key) | 1, number);
}

void watch_lossy_pings(const struct watch *w, const struct echo *e)
{
    if (e->request)
        requested(w, e);
    else
        answered(w, e->hash | 1, e->number);
}

/* ---- ARP */

enum { RETRIED_TIMES = 5, RETRY_MS = 500 };

APART static void only_repeated(const struct watch *w, const struct question *q,
                                const struct retried_pair *p)
{
    struct ip from = ip_of_key(q->key.who), to = ip_of_key(q->key.about);
    struct sender who = sender_at(w, q->lid, &from);
    const struct event_key key = event_key(w, EVENT_ARP_UNANSWERED, q->key.who, q->key.about,
                                           UINT64_C(1) << 32 | q->key.requester);
    char target[SENDER_TEXT_SIZE];
    if (has_gap(w, w->p->src, p->first_frame))
        return;
    watch_event(w, &key, &who, p->first_frame,
                "its ARP requests for %s are answered only when it repeats them: %u times in a row "
                "since frame %u; broadcasts may be lost on the way",
                ip_text(target, &to), p->times, p->first_frame);
}

void watch_retried(const struct watch *w, const struct question *q)
{
    uint64_t hash = hash_of(w, q);
    struct retried_pair *p = &w->lossy->retried[hash >> 32 & (PAIRS - 1)];
    bool is_retried = q->asked > 1 && q->last_ms - q->first_ms >= RETRY_MS;
    if (p->hash != hash || !is_retried)
        *p = (struct retried_pair){.hash = hash};
    if (!is_retried)
        return;
    if (!p->times++)
        p->first_frame = q->first_frame;
    if (p->times >= RETRIED_TIMES)
        only_repeated(w, q, p);
}
