/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/question.h"

/* Seconds after which a request is no retry of the one before. */
static const uint8_t retry_seconds[] = {
    [QUESTION_JOIN] = 60,  [QUESTION_LEAVE] = 60,  [QUESTION_PATH] = 60, [QUESTION_REQ] = 120,
    [QUESTION_DREQ] = 120, [QUESTION_ARP] = 5,     [QUESTION_ND] = 5,    [QUESTION_ECHO] = 10,
    [QUESTION_SA] = 60,    [QUESTION_REPORT] = 60, [QUESTION_SMP] = 60,  [QUESTION_REP] = 120,
    [QUESTION_DHCP] = 120, [QUESTION_LARGE] = 10,
};
enum { HEARD_MS = 60000 };

struct question_key question_key(const struct watch *w, enum question_kind kind, uint64_t requester,
                                 const uint8_t *who, const uint8_t *about)
{
    struct question_key key = {.kind = kind, .subnet = w->p->at.interface, .requester = requester};
    if (who)
        memcpy(key.who, who, sizeof key.who);
    if (about)
        memcpy(key.about, about, sizeof key.about);
    return key;
}

/* Not the hash of tables, which differs between runs: what is overwritten must not (model/hash.h).
 */
static struct question *slot_of(const struct watch *w, const struct question_key *key)
{
    uint64_t words[sizeof *key / sizeof(uint64_t)], hash = 0;
    memcpy(words, key, sizeof words);
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return &w->questions->all[(hash ^ hash >> 32) >> 16 & (QUESTIONS - 1)];
}

static bool has_key(const struct question *q, const struct question_key *key)
{
    return memcmp(&q->key, key, sizeof *key) == 0;
}

static bool is_echo(const struct question *q)
{
    return q->key.kind == QUESTION_ECHO || q->key.kind == QUESTION_LARGE;
}

void question_close(const struct watch *w, const struct question *q)
{
    struct questions *all = w->questions;
    for (unsigned i = 0; i < all->n_open; i++)
        if (all->open[i] == q) {
            all->open[i] = all->open[--all->n_open];
            all->n_open_echos -= is_echo(q);
            return;
        }
}

void question_open(const struct watch *w, struct question *q)
{
    struct questions *all = w->questions;
    question_close(w, q);
    if (all->n_open == OPEN_MAX)
        return;
    all->open[all->n_open++] = q;
    all->n_open_echos += is_echo(q);
}

void question_answer(const struct watch *w, struct question *q)
{
    if (w->questions->n_open)
        question_close(w, q);
    q->asked = 0;
    q->stray_frame = 0;
}

static bool is_retry(const struct question *q, int64_t ms)
{
    return q->asked && ms - q->last_ms <= retry_seconds[q->key.kind] * INT64_C(1000);
}

static void begin_question(const struct watch *w, struct question *q)
{
    question_answer(w, q);
    q->first_frame = w->p->at.frame;
    q->first_ms = watch_ms(w);
}

struct question *question_ask(const struct watch *w, const struct question_key *key, uint64_t last)
{
    struct question *q = slot_of(w, key);
    bool known = has_key(q, key);
    if (known && q->last == last)
        return NULL;
    if (!known || !is_retry(q, watch_ms(w)))
        begin_question(w, q);
    q->key = *key;
    q->last = last;
    q->asked++;
    q->last_frame = w->p->at.frame;
    q->last_ms = watch_ms(w);
    q->lid = w->p->ib.slid;
    q->peer = w->p->ib.dlid;
    return q;
}

unsigned question_lacks(const struct watch *w, const struct question *q)
{
    return q->asked - (q->last_frame == w->p->at.frame);
}

struct question *question_find(const struct watch *w, const struct question_key *key)
{
    struct question *q = slot_of(w, key);
    return has_key(q, key) && q->asked ? q : NULL;
}

struct question *question_take(const struct watch *w, struct question *q,
                               const struct question_key *key)
{
    struct question *to = slot_of(w, key);
    struct question taken = *q;
    question_answer(w, q);
    if (to == q)
        return NULL;
    question_answer(w, to);
    taken.key = *key;
    *to = taken;
    return to;
}

/* ---- who is heard */

bool question_is_heard(const struct watch *w, uint16_t lid)
{
    const struct heard *h = &w->questions->heard[lid % HEARD];
    return lid && h->lid == lid && h->subnet == w->p->at.interface &&
           watch_ms(w) - h->ns / 1000000 <= HEARD_MS;
}

bool question_is_unanswered(const struct watch *w, const struct question *q, int64_t ms)
{
    return q->asked >= QUESTION_ASKED && watch_ms(w) - q->first_ms >= ms &&
           question_is_heard(w, q->lid);
}

void question_hear_at(const struct watch *w, uint16_t lid)
{
    w->questions->heard[lid % HEARD] = (struct heard){w->p->at.ns, w->p->at.interface, lid};
}

void question_hear(const struct watch *w)
{
    const struct ib_packet *ib = &w->p->ib;
    if (ib->has_lrh && ib->dlid < LID_MULTICAST_FIRST)
        question_hear_at(w, ib->dlid);
}
