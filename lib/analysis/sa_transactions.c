/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/sa_requests.h"
#include "wire/nanoseconds.h"
#include "wire/put.h"

enum { SELECT_EXACTLY = 2 }; /* of an MTU or a rate (IBA 15.2.5.16) */
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

struct question_key sa_subject_key(const struct sa_subject *s)
{
    struct question_key key = {
        .kind = s->kind, .subnet = port_interface(s->requester), .requester = s->requester.id};
    if (s->has_gid)
        memcpy(key.about, s->gid, GID_SIZE);
    if (key.kind != QUESTION_SA)
        return key;
    key.who[SA_KEY_METHOD] = s->method;
    put16(key.who + SA_KEY_ATTRIBUTE, s->attribute);
    put16(key.who + SA_KEY_TRAP, s->trap);
    return key;
}

static inline void note_subject(const struct sa *sa, struct sa_subject *s, struct port requester,
                                enum question_kind kind, uint8_t method, const uint8_t *gid)
{
    s->requester = requester;
    s->attribute = sa->mad.attribute;
    s->method = method;
    s->kind = (uint8_t)kind;
    s->has_gid = gid != NULL;
    s->trap = gid && sa->mad.attribute == SA_INFORM_INFO ? be16(sa->data.p + INFORM_TRAP) : 0;
    if (gid)
        memcpy(s->gid, gid, GID_SIZE);
    else
        memset(s->gid, 0, GID_SIZE);
}

struct sa_subject sa_subject_of(const struct watch *w, struct port requester, uint8_t method,
                                const uint8_t *gid)
{
    const struct sa *sa = &w->p->mad.sa;
    struct sa_subject s;
    note_subject(sa, &s, requester, kind_of(sa->mad.attribute, method), method, gid);
    return s;
}

/* ---- requests without an answer */

static uint32_t *pending_from(const struct watch *w, const struct sa_transaction *t)
{
    return &w->sa_transactions->pending_from[t->requester % SA_REQUESTERS];
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
    const struct question_key key = sa_subject_key(&t->subject);
    struct question *q = question_ask_by(w, &key, &t->request);
    if (q)
        q->repeated = q->asked == 1 ? t->requests : MAX(q->repeated, t->requests);
    if (q && w->f->subnet && subnet_sa_sequence(w->f->subnet, port_interface(t->subject.requester)))
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

static bool is_same(const struct sa_subject *a, const struct sa_subject *b)
{
    return port_same(a->requester, b->requester) && a->attribute == b->attribute &&
           a->method == b->method && a->trap == b->trap && a->has_gid == b->has_gid &&
           memcmp(a->gid, b->gid, GID_SIZE) == 0;
}

APART static void answer_others(const struct watch *w, const struct sa_transaction *like)
{
    struct sa_transaction *next;
    for (struct sa_transaction *t = w->sa_transactions->pending; t; t = next) {
        next = t->next;
        if (is_same(&t->subject, &like->subject))
            leave_list(w, t);
    }
}

APART static void answer_question(const struct watch *w, const struct sa_transaction *t)
{
    const struct question_key key = sa_subject_key(&t->subject);
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
    if (w->questions->asked[t->subject.kind])
        answer_question(w, t);
}

/*
 * Its answer will not be recognised any more. asks: what the transaction in its place asks, which
 * may be the same; NULL: nothing.
 */
APART static void give_up(const struct watch *w, struct sa_transaction *t,
                          const struct sa_subject *asks)
{
    if (!asks || !is_same(&t->subject, asks))
        sa_transaction_answer(w, t);
    else if (t->pending)
        sa_ask_pending(w);
}

static inline void begin(const struct watch *w, struct sa_transaction *t, struct port requester)
{
    if (t->listed)
        leave_list(w, t);
    t->requester = requester.id;
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
APART static void replace(const struct watch *w, struct sa_transaction *t, const uint8_t *gid)
{
    const struct sa_subject asks = sa_subject_of(w, w->p->src, w->p->mad.sa.mad.method, gid);
    give_up(w, t, &asks);
}

/* Its answer was captured a moment ago, before it. */
static bool is_answered(const struct watch *w, const struct sa_transaction *t)
{
    return t->answered_frame && order_is_uncertain(&w->f->order, t->answered_frame);
}

/* Without the GID, it is not known what the request is about. */
static bool is_followed(const struct watch *w, const struct sa_transaction *t,
                        enum question_kind kind, const uint8_t *gid)
{
    return (gid || kind == QUESTION_SA) && w->p->mad.sa.segment <= 1 && port_to_lid(w->p->src) &&
           !is_answered(w, t);
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

static void want_of_join(struct sa_transaction *t, const uint8_t *record)
{
    const uint64_t only = MCM_HAS_MTU_SELECTOR | MCM_HAS_MTU;
    uint8_t mtu = record[MCM_MTU];
    if (t->mask & MCM_HAS_JOIN_STATE)
        t->join = record[MCM_SCOPE_JOIN] & 0x0f;
    if ((t->mask & only) == only && mtu >> 6 == SELECT_EXACTLY)
        t->mtu = mtu & 0x3f;
}

/* Components of the request that the answer is to have. */
static void want(struct sa_transaction *t, const struct sa *sa)
{
    const struct sa_subject *s = &t->subject;
    t->mask = sa->component_mask;
    t->pkey = 0;
    t->join = t->mtu = 0;
    if (s->has_gid && s->attribute == SA_PATH_RECORD)
        t->pkey = be16(sa->data.p + PATH_PKEY);
    else if (s->has_gid && s->attribute == SA_MC_MEMBER_RECORD)
        t->pkey = be16(sa->data.p + MCM_PKEY);
    if (s->kind == QUESTION_JOIN)
        want_of_join(t, sa->data.p);
}

void sa_transaction_ask(const struct watch *w, struct sa_transaction *t, const uint8_t *gid)
{
    const struct packet *p = w->p;
    const struct sa *sa = &p->mad.sa;
    enum question_kind kind = kind_of(sa->mad.attribute, sa->mad.method);
    bool known = t->requester == p->src.id && t->tid == sa->mad.tid;
    if (is_copy(w, t, known))
        return;
    if (!known) {
        if (is_open(t))
            replace(w, t, gid);
        begin(w, t, p->src);
    }
    if (t->pending)
        sa_ask_pending(w);
    note_request(w, t);
    if (!is_followed(w, t, kind, gid))
        return;
    note_subject(sa, &t->subject, p->src, kind, sa->mad.method, gid);
    want(t, sa);
    t->followed = true;
    t->answered_frame = 0;
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
