/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/question.h"
#include "wire/nanoseconds.h"

enum { LINUX_JOIN_MS = 3000, OPENSM_MS = 200, CM_MS = 4295, RESOLUTION_MS = 3000 };

/*
 * again_s: seconds after which a request is no retry of the one before. over_ms: the first and the
 * last request are so far apart; faster ones do not wait for an answer, as those of a scan.
 * wait_ms: so long an answer may take after the last one:
 * - to the SA: Linux waits 3 s for a join;
 * - Reports, SMPs, segments of tables: OpenSM waits 200 ms (transaction_timeout);
 * - CM: 4.096 us * 2^20, the response timeout of the REQs of Linux (IBA 12.7.10);
 * - ARP, Neighbour Discovery: 1 s between two requests (RFC 4861 section 10: RETRANS_TIMER);
 * - pings: the replying host may have to resolve an address before, which takes three of these;
 * - DHCP: 4 s between the first two requests (RFC 2131 section 4.1);
 * - other management classes: libibmad waits 1 s.
 */
static const struct {
    uint16_t again_s, over_ms, wait_ms;
} times[QUESTION_KINDS] = {
    [QUESTION_JOIN] = {60, 200, LINUX_JOIN_MS}, [QUESTION_LEAVE] = {60, 200, LINUX_JOIN_MS},
    [QUESTION_PATH] = {60, 200, LINUX_JOIN_MS}, [QUESTION_SA] = {60, 200, LINUX_JOIN_MS},
    [QUESTION_REPORT] = {60, 200, OPENSM_MS},   [QUESTION_SMP] = {60, 200, OPENSM_MS},
    [QUESTION_SEGMENT] = {60, 200, OPENSM_MS},  [QUESTION_REQ] = {120, 1000, CM_MS},
    [QUESTION_DREQ] = {120, 1000, CM_MS},       [QUESTION_REP] = {120, 1000, CM_MS},
    [QUESTION_ARP] = {5, 1000, 1000},           [QUESTION_ND] = {5, 1000, 1000},
    [QUESTION_ECHO] = {10, 0, RESOLUTION_MS},   [QUESTION_LARGE] = {10, 0, RESOLUTION_MS},
    [QUESTION_DHCP] = {120, 1000, 4000},        [QUESTION_MAD] = {60, 200, 1000},
};

struct questions *questions_new(void)
{
    struct questions *all = g_new0(struct questions, 1);
    for (unsigned i = 0; i < WAITING_SUBNETS; i++)
        all->times[i].due_ns = INT64_MAX;
    all->proof_ns = INT64_MAX;
    return all;
}

static struct question *slot_at(const struct watch *w, unsigned place)
{
    return &w->questions->all[place & (QUESTIONS - 1)];
}

static struct question *slot_of(const struct watch *w, const struct question_key *key)
{
    return slot_at(w, question_key_place(key));
}

/* ---- those whose time runs */

static struct waiting_list *list_of(const struct watch *w, const struct question *q)
{
    return &w->questions->waiting[q->key.subnet % WAITING_SUBNETS][q->key.kind];
}

static int64_t wait_ns(const struct question *q)
{
    return times[q->key.kind].wait_ms * (int64_t)NS_PER_MS;
}

static int64_t due_ns(const struct question *q)
{
    return nanoseconds_later(q->since_ns, wait_ns(q));
}

static void stop_waiting(const struct watch *w, struct question *q)
{
    struct waiting_list *list = list_of(w, q);
    if (!q->waits)
        return;
    *(q->previous ? &q->previous->next : &list->first) = q->next;
    *(q->next ? &q->next->previous : &list->last) = q->previous;
    q->waits = false;
}

static void start_waiting(const struct watch *w, struct question *q, int64_t since_ns)
{
    struct waiting_list *list = list_of(w, q);
    int64_t *due = &w->questions->times[q->key.subnet % WAITING_SUBNETS].due_ns;
    q->waits = true;
    q->waited = q->asked;
    q->since_ns = since_ns;
    q->next = NULL;
    q->previous = list->last;
    *(list->last ? &list->last->next : &list->first) = q;
    list->last = q;
    *due = MIN(*due, due_ns(q));
    watch_wake(w, *due);
}

/* The clocks of two capture points may differ. They do not note copies (repeated.c). */
static bool is_over(const struct watch *w, const struct question *q)
{
    if (q->captured_on == w->p->captured_on)
        return w->p->at.ns >= due_ns(q);
    return clocks_at_least(&w->f->order.clocks, q->captured_on, q->since_ns) >= wait_ns(q);
}

static bool is_due(const struct watch *w, const struct question *q)
{
    return q && q->key.subnet == w->p->at.interface && is_over(w, q);
}

struct question *question_due(const struct watch *w)
{
    struct waiting_list *lists = w->questions->waiting[w->p->at.interface % WAITING_SUBNETS];
    int64_t next = INT64_MAX;
    for (unsigned i = 0; i < QUESTION_KINDS; i++) {
        struct question *q = lists[i].first;
        if (is_due(w, q)) {
            stop_waiting(w, q);
            return q;
        }
        if (q)
            next = MIN(next, due_ns(q));
    }
    *question_due_ns(w) = next;
    return NULL;
}

double question_wait_s(enum question_kind kind)
{
    return times[kind].wait_ms / 1000.0;
}

/* ---- those that wait for a proof */

static void leave_open(const struct watch *w, struct question *q)
{
    struct questions *all = w->questions;
    if (!q->open)
        return;
    struct question *last = all->open[--all->n_open];
    all->open[q->open - 1] = last;
    last->open = q->open;
    q->open = 0;
}

/* The times of several capture points may go back. */
static int64_t proof_ns(const struct question *q)
{
    int64_t ms = MIN(q->first_ms, q->last_ms);
    return MIN(ms, INT64_MAX / NS_PER_MS - GIVEN_UP_MS) * NS_PER_MS +
           (GIVEN_UP_MS - 1) * (int64_t)NS_PER_MS;
}

void question_open(const struct watch *w, struct question *q)
{
    struct questions *all = w->questions;
    leave_open(w, q);
    if (all->n_open == OPEN_MAX)
        return;
    all->open[all->n_open++] = q;
    q->open = (uint8_t)all->n_open;
    all->proof_ns = MIN(all->proof_ns, proof_ns(q));
    watch_wake(w, all->proof_ns);
}

int64_t question_next_proof(const struct questions *all)
{
    int64_t next = INT64_MAX;
    for (unsigned i = 0; i < all->n_open; i++)
        next = MIN(next, proof_ns(all->open[i]));
    return next;
}

int64_t question_next_wake(const struct questions *all)
{
    int64_t next = all->proof_ns;
    for (unsigned i = 0; i < WAITING_SUBNETS; i++)
        next = MIN(next, all->times[i].due_ns);
    return next;
}

void question_close(const struct watch *w, struct question *q)
{
    leave_open(w, q);
    stop_waiting(w, q);
}

/* ---- questions and answers */

void question_answer(const struct watch *w, struct question *q)
{
    question_close(w, q);
    w->questions->asked[q->key.kind] -= q->asked > 0;
    q->reported = false;
    q->asked = 0;
    q->stray_frame = 0;
    q->astray = 0;
    q->useless_frame = 0;
    q->stray_qkey = 0;
    q->earlier = 0;
}

void question_answer_now(const struct watch *w, struct question *q)
{
    question_answer(w, q);
    q->answered_frame = w->p->at.frame;
    q->answered_ms = watch_ms(w);
    q->answered_to = w->p->ib.dlid;
    q->answered_from = w->p->ib.slid;
}

static bool is_retry(const struct question *q, int64_t ms)
{
    return q->asked && ms - q->last_ms <= times[q->key.kind].again_s * INT64_C(1000);
}

/* A round of ARP requests had no answer, and another one follows. */
static void begin_round(const struct watch *w, struct question *q)
{
    uint32_t earlier = q->earlier + q->asked;
    uint32_t frame = q->earlier ? q->earlier_frame : q->first_frame;
    int64_t ms = q->earlier ? q->earlier_ms : q->first_ms;
    question_answer(w, q);
    q->earlier = earlier;
    q->earlier_frame = frame;
    q->earlier_ms = ms;
}

/* The key of the question is the same. */
static bool is_next_round(const struct question *q, const struct question_packet *p)
{
    int64_t ms = p->ns / NS_PER_MS - q->last_ms;
    return q->key.kind == QUESTION_ARP && q->asked && ms >= 0 && ms <= ROUND_MS;
}

/* All requests of the rounds are one question. */
static void join_rounds(struct question *q)
{
    bool are_enough = q->earlier && q->earlier + q->asked >= QUESTION_ASKED_SLOWLY &&
                      q->last_ms - q->earlier_ms >= SLOWLY_MS;
    if (!are_enough || q->waits)
        return;
    q->asked += q->earlier;
    q->first_frame = q->earlier_frame;
    q->first_ms = q->earlier_ms;
    q->earlier = 0;
}

/* known: its key is the same as that of the question in its place. */
static void begin_question(const struct watch *w, struct question *q, bool known,
                           const struct question_key *key, const struct question_packet *p)
{
    if (known && is_next_round(q, p))
        begin_round(w, q);
    else if (q->asked)
        question_answer(w, q);
    w->questions->asked[key->kind]++;
    if (!known) {
        q->answered_frame = q->rate_times = 0;
        q->key = *key;
    }
    q->first_frame = p->frame;
    q->first_ms = p->ns / NS_PER_MS;
}

/*
 * A tap has a request twice at once, and two capture points have it on two interfaces. A sender
 * that does not count its PSNs sends the same packet again later, while it has no answer.
 */
static bool is_copy(const struct question *q, bool same, const struct question_packet *p)
{
    if (!same)
        return p->again;
    return !q->asked || q->captured_on != p->captured_on ||
           p->ns / NS_PER_MS - q->last_ms < COPY_MS;
}

static inline struct question *ask_at(const struct watch *w, const struct question_key *key,
                                      unsigned place, const struct question_packet *p)
{
    struct question *q = slot_at(w, place);
    bool known = question_key_same(&q->key, key);
    if (is_copy(q, known && q->last == p->last, p))
        return NULL;
    if (!known || !is_retry(q, p->ns / NS_PER_MS))
        begin_question(w, q, known, key, p);
    q->last = p->last;
    q->asked++;
    q->last_frame = p->frame;
    q->last_ms = p->ns / NS_PER_MS;
    if (!q->waits)
        q->since_frame = p->frame;
    q->lid = p->lid;
    q->peer = p->peer;
    q->busy_ns = p->busy_ns;
    q->captured_on = p->captured_on;
    join_rounds(q);
    if (!q->waits && q->asked >= QUESTION_ASKED &&
        q->last_ms - q->first_ms >= times[key->kind].over_ms)
        start_waiting(w, q, p->ns);
    return q;
}

struct question *question_ask_by(const struct watch *w, const struct question_key *key,
                                 const struct question_packet *p)
{
    return ask_at(w, key, question_key_place(key), p);
}

OFTEN struct question *question_ask_at(const struct watch *w, const struct question_key *key,
                                       unsigned place, uint64_t last)
{
    struct question_packet p;
    question_note_packet(w, &p, last);
    return watch_is_sent_again(w) ? NULL : ask_at(w, key, place, &p);
}

struct question *question_ask(const struct watch *w, const struct question_key *key, uint64_t last)
{
    return question_ask_at(w, key, question_key_place(key), last);
}

unsigned question_lacks(const struct watch *w, const struct question *q)
{
    return q->asked - (q->last_frame == w->p->at.frame);
}

struct question *question_find_at(const struct watch *w, const struct question_key *key,
                                  unsigned place)
{
    struct question *q = slot_at(w, place);
    return q->asked && question_key_same(&q->key, key) ? q : NULL;
}

struct question *question_find(const struct watch *w, const struct question_key *key)
{
    return w->questions->asked[key->kind] ? question_find_at(w, key, question_key_place(key))
                                          : NULL;
}

const struct question *question_last(const struct watch *w, const struct question_key *key)
{
    const struct question *q = slot_of(w, key);
    return question_key_same(&q->key, key) ? q : NULL;
}

struct question *question_take(const struct watch *w, struct question *q,
                               const struct question_key *key)
{
    struct question *to = slot_of(w, key);
    struct question taken = *q;
    bool waited = q->waits;
    question_answer(w, q);
    if (to == q)
        return NULL;
    question_answer(w, to);
    w->questions->asked[key->kind] += taken.asked > 0;
    taken.key = *key;
    taken.waits = false;
    taken.open = 0;
    *to = taken;
    if (waited)
        start_waiting(w, to, taken.since_ns);
    return to;
}

/* ---- who is heard */

/* The clocks of two capture points may differ: the shortest possible pause counts. */
/* Frames of several queues may be a little out of order. */
enum { BACK_NS = 100000000 };

static void note_step_back(const struct watch *w)
{
    struct subnet_times *t = w->times;
    t->backs += t->backs < UINT32_MAX;
    t->back_frame = w->p->at.frame;
}

void question_note_pause(const struct watch *w)
{
    const struct order_entry *before = order_before(&w->f->order);
    int64_t ns = clocks_at_least(&w->f->order.clocks, before->interface, before->ns);
    int64_t *pauses = &w->times->pauses_ns;
    uint64_t since = (uint64_t)w->p->at.ns - (uint64_t)before->ns;
    if (since - PAUSE_NS <= INT64_MAX && ns > PAUSE_NS) /* neither shorter nor negative */
        *pauses = (int64_t)((uint64_t)*pauses + (uint64_t)ns - PAUSE_NS);
    else if (before->frame && before->interface == w->p->captured_on && -since > BACK_NS &&
             -since <= INT64_MAX)
        note_step_back(w);
}

/* A clock may be set once. */
bool question_has_order(const struct watch *w, const struct question *q)
{
    const struct subnet_times *t = w->times;
    return t->backs <= 1 && t->back_frame <= q->first_frame;
}

/* Requests of subnet management go to LID_PERMISSIVE too, but only the responses count. */
static struct heard *heard_at(const struct watch *w, uint16_t lid)
{
    return &w->questions->heard[lid == LID_PERMISSIVE ? (unsigned)HEARD : lid];
}

static bool is_of_port(uint16_t lid)
{
    return lid && (lid < LID_MULTICAST_FIRST || lid == LID_PERMISSIVE);
}

static inline void note_heard(const struct watch *w, struct heard *h)
{
    *h = (struct heard){question_busy_ns(w), w->p->at.interface, true};
}

bool question_is_heard(const struct watch *w, const struct question *q)
{
    const struct heard *h = heard_at(w, q->lid);
    return is_of_port(q->lid) && h->is_known && h->subnet == q->key.subnet &&
           q->busy_ns / NS_PER_MS - h->busy_ns / NS_PER_MS <= HEARD_MS;
}

bool question_hears_sender(const struct watch *w)
{
    const struct question q = {
        .key.subnet = w->p->at.interface, .lid = w->p->ib.slid, .busy_ns = question_busy_ns(w)};
    return question_is_heard(w, &q);
}

void question_hear_at(const struct watch *w, uint16_t lid)
{
    note_heard(w, heard_at(w, lid));
}

/* Without an LRH, the LID is 0, of which nobody asks. */
void question_hear(const struct watch *w)
{
    w->times->seen_ns = w->p->at.ns;
    note_heard(w, &w->questions->heard[w->p->ib.dlid]);
}
