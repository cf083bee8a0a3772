/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/sa_requests.h"
#include "wire/nanoseconds.h"
#include "wire/put.h"

/* So long a request is only noted: the shortest time after which an answer is late (sa_slow.c). */
enum { PENDING_MS = 1000, NS_PER_MS = 1000000 };

/* The model has found its place already. */
struct sa_transaction *sa_transaction_now(const struct watch *w)
{
    return &w->sa_transactions->all[w->f->transaction % SA_TRANSACTIONS];
}

/* ---- what a request is about */

static enum question_kind kind_of(uint16_t attribute, uint8_t method)
{
    if (attribute == SA_MC_MEMBER_RECORD && method == SA_SET)
        return QUESTION_JOIN;
    if (attribute == SA_MC_MEMBER_RECORD && method == SA_DELETE)
        return QUESTION_LEAVE;
    return attribute == SA_PATH_RECORD && method == SA_GET ? QUESTION_PATH : QUESTION_SA;
}

struct question_key sa_question_key(struct port requester, uint16_t attribute, uint8_t method,
                                    const uint8_t *record)
{
    enum question_kind kind = kind_of(attribute, method);
    struct question_key key = {
        .kind = kind, .subnet = port_interface(requester), .requester = requester.id};
    if (record)
        memcpy(key.about, record + sa_gid_place(attribute).gid, GID_SIZE);
    if (kind != QUESTION_SA)
        return key;
    key.who[SA_KEY_METHOD] = method;
    put16(key.who + SA_KEY_ATTRIBUTE, attribute);
    if (record && attribute == SA_INFORM_INFO)
        memcpy(key.who + SA_KEY_TRAP, record + INFORM_TRAP, sizeof(uint16_t));
    return key;
}

struct question_key sa_key_of(const struct sa_transaction *t)
{
    return sa_question_key(t->requester, t->attribute, t->method, t->has_record ? t->record : NULL);
}

/* ---- requests without an answer */

static uint32_t *pending_from(const struct watch *w, const struct sa_transaction *t)
{
    return &w->sa_transactions->pending_from[t->requester.id % SA_REQUESTERS];
}

static void stop_pending(const struct watch *w, struct sa_transaction *t)
{
    t->pending = false;
    --*pending_from(w, t);
}

static void leave_list(const struct watch *w, struct sa_transaction *t)
{
    struct sa_transactions *all = w->sa_transactions;
    t->listed = false;
    if (t == all->pending)
        all->pending = t->next;
    *(t->previous ? &t->previous->next : &all->first) = t->next;
    *(t->next ? &t->next->previous : &all->last) = t->previous;
    if (t->pending)
        stop_pending(w, t);
}

/* The request is no question yet. */
static void enter_list(const struct watch *w, struct sa_transaction *t)
{
    struct sa_transactions *all = w->sa_transactions;
    int64_t *due = question_due_ns(w);
    t->listed = t->pending = true;
    t->next = NULL;
    t->previous = all->last;
    *(all->last ? &all->last->next : &all->first) = t;
    all->last = t;
    if (!all->pending)
        all->pending = t;
    ++*pending_from(w, t);
    *due = MIN(*due, nanoseconds_later(t->request.ns, PENDING_MS * (int64_t)NS_PER_MS));
    question_wake(w->questions, *due);
}

/* The SA's other packets may prove that it has not answered. */
static void ask(const struct watch *w, const struct sa_transaction *t)
{
    const struct question_key key = sa_key_of(t);
    struct question *q = question_ask_by(w, &key, &t->request);
    if (q)
        q->repeated = q->asked == 1 ? t->requests : MAX(q->repeated, t->requests);
    if (q && w->f->subnet && subnet_sa_sequence(w->f->subnet, port_interface(t->requester)))
        question_open(w, q);
}

void sa_ask_pending(const struct watch *w)
{
    struct sa_transaction *t;
    while ((t = w->sa_transactions->pending) != NULL) {
        w->sa_transactions->pending = t->next;
        stop_pending(w, t);
        ask(w, t);
    }
}

APART static void answer_others(const struct watch *w, const struct sa_transaction *like)
{
    const struct question_key key = sa_key_of(like);
    struct sa_transaction *next;
    for (struct sa_transaction *t = w->sa_transactions->pending; t; t = next) {
        next = t->next;
        const struct question_key other = sa_key_of(t);
        if (question_key_same(&key, &other))
            leave_list(w, t);
    }
}

APART static void answer_question(const struct watch *w, const struct sa_transaction *t)
{
    const struct question_key key = sa_key_of(t);
    struct question *q = question_find(w, &key);
    if (q)
        question_answer(w, q);
}

/* ---- requests and answers */

void sa_transaction_answer(const struct watch *w, struct sa_transaction *t)
{
    if (t->listed)
        leave_list(w, t);
    if (*pending_from(w, t))
        answer_others(w, t);
    if (w->questions->asked[t->kind])
        answer_question(w, t);
}

/*
 * Its answer will not be recognised any more. asks: what the transaction in its place asks, which
 * may be the same; NULL: nothing.
 */
APART static void give_up(const struct watch *w, struct sa_transaction *t,
                          const struct question_key *asks)
{
    const struct question_key key = sa_key_of(t);
    if (!asks || !question_key_same(&key, asks))
        sa_transaction_answer(w, t);
    else if (t->pending)
        sa_ask_pending(w);
}

static inline void begin(const struct watch *w, struct sa_transaction *t, struct port requester)
{
    if (t->listed)
        leave_list(w, t);
    t->requester = requester;
    t->tid = w->p->mad.mad.tid;
    t->request.frame = 0;
    t->request.last = 0;
    t->requests = 0;
    t->answered_frame = 0;
    t->followed = false;
}

static inline bool is_open(const struct sa_transaction *t)
{
    return t->followed && !t->answered_frame;
}

void sa_transaction_begin(const struct watch *w, struct sa_transaction *t, struct port requester)
{
    if (is_open(t))
        give_up(w, t, NULL);
    begin(w, t, requester);
}

/* The transaction of the current request takes the place of one that has no answer. */
APART static void replace(const struct watch *w, struct sa_transaction *t)
{
    const struct sa *sa = &w->p->mad.sa;
    const struct question_key asks = sa_question_key(w->p->src, sa->mad.attribute, sa->mad.method,
                                                     sa_has_gid(sa) ? sa->data.p : NULL);
    give_up(w, t, &asks);
}

/* Its answer was captured a moment ago, before it. */
static bool is_answered(const struct watch *w, const struct sa_transaction *t)
{
    return t->answered_frame && order_is_uncertain(&w->f->order, t->answered_frame);
}

/* Without the GID, it is not known what the request is about. */
static bool is_followed(const struct watch *w, const struct sa_transaction *t,
                        enum question_kind kind, bool has_gid)
{
    return (has_gid || kind == QUESTION_SA) && w->p->mad.sa.segment <= 1 &&
           port_to_lid(w->p->src) && !is_answered(w, t);
}

static void note_request(const struct watch *w, struct sa_transaction *t)
{
    const struct packet *p = w->p;
    if (!t->requests || t->request.captured_on != p->captured_on) {
        t->first_ns = p->at.ns;
        t->first_frame = p->at.frame;
        t->requests = 0;
    }
    t->requests++;
    question_note_packet(w, &t->request, p->ib.psn + UINT64_C(1));
}

/* As of a question (question.c). After the answer, a requester asks again with another PSN. */
static bool is_copy(const struct watch *w, const struct sa_transaction *t, bool known)
{
    const struct packet *p = w->p;
    if (!known || t->request.last != p->ib.psn + UINT64_C(1))
        return p->copy_of;
    return t->answered_frame || t->request.captured_on != p->captured_on ||
           watch_ms(w) - t->request.ns / NS_PER_MS < COPY_MS;
}

/* Records are no longer than PATH_SIZE, but those that were captured may be shorter. */
static void note_record(struct sa_transaction *t, const struct sa *sa)
{
    if (sa->data.cap >= sizeof t->record)
        memcpy(t->record, sa->data.p, sizeof t->record);
    else
        memcpy(t->record, sa->data.p, sa->data.cap);
}

static void note_subject(struct sa_transaction *t, const struct sa *sa, enum question_kind kind,
                         bool has_gid)
{
    t->followed = true;
    t->answered_frame = 0;
    t->kind = (uint8_t)kind;
    t->method = sa->mad.method;
    t->attribute = sa->mad.attribute;
    t->mask = sa->component_mask;
    t->has_record = has_gid;
    if (has_gid)
        note_record(t, sa);
    else
        memset(t->record, 0, sizeof t->record);
}

void sa_transaction_ask(const struct watch *w, struct sa_transaction *t)
{
    const struct packet *p = w->p;
    const struct sa *sa = &p->mad.sa;
    enum question_kind kind = kind_of(sa->mad.attribute, sa->mad.method);
    bool known = port_same(t->requester, p->src) && t->tid == sa->mad.tid;
    if (is_copy(w, t, known))
        return;
    if (!known) {
        if (is_open(t))
            replace(w, t);
        begin(w, t, p->src);
    }
    if (t->pending)
        sa_ask_pending(w);
    note_request(w, t);
    bool has_gid = sa_has_gid(sa);
    if (!is_followed(w, t, kind, has_gid))
        return;
    note_subject(t, sa, kind, has_gid);
    if (t->listed)
        leave_list(w, t);
    enter_list(w, t);
}

/* ---- events */

struct event_key sa_key_of_unanswered(const struct watch *w, const struct question *q,
                                      const struct sender *who)
{
    uint64_t which = (uint64_t)be32(q->key.who) << 8 | q->key.who[SA_KEY_SIZE - 1];
    return event_key(w, EVENT_SA_UNANSWERED, who->gid, q->key.about,
                     which << 24 | (uint64_t)q->lid << 8 | q->key.kind);
}

void sa_answered_after_all(const struct watch *w, const struct question *q)
{
    const struct sender who = sender_of_lid(w, q->lid);
    const struct event_key key = sa_key_of_unanswered(w, q, &who);
    const struct link_event *event = event_table_find(w->sink->events, &key);
    if (event && !packet_is_corrupt(w->p) && event->cause_frame == q->first_frame) {
        question_no_doubt(w, event);
        watch_take_back(w, event, 0);
        w->sink->last = NULL;
    }
}
