/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/forwarding.h"
#include "analysis/sa_requests.h"
#include "wire/nanoseconds.h"

/* So long a request is only noted: the shortest time after which an answer is late (sa_slow.c). */
#define PENDING_NS INT64_C(1000000000)

/* ---- requests */

/* The transaction of the current request takes the place of one that has no answer. */
APART static void replace(const struct watch *w, struct mad_transaction *t)
{
    const struct sa *sa = &w->p->mad.sa;
    const struct question_key asks = sa_question_key(w->p->src, sa->mad.attribute, sa->mad.method,
                                                     sa_has_gid(sa) ? sa->data.p : NULL);
    transaction_give_up(w, t, &asks);
}

static uint64_t request_number(const struct packet *p)
{
    return p->ib.psn + UINT64_C(1);
}

/* Its answer was captured a moment ago, before it. */
static bool is_answered(const struct watch *w, const struct mad_transaction *t)
{
    return t->answered_frame && order_is_uncertain(&w->f->order, t->answered_frame);
}

/* Without the GID, it is not known what the request is about. */
static bool is_followed(const struct watch *w, const struct mad_transaction *t, bool has_gid)
{
    const struct sa *sa = &w->p->mad.sa;
    return (has_gid || sa_question_kind(sa->mad.attribute, sa->mad.method) == QUESTION_SA) &&
           sa->segment <= 1 && port_to_lid(w->p->src) && !is_answered(w, t);
}

/* known: the transaction had an earlier one. */
static void note_request(const struct watch *w, struct mad_transaction *t, bool known)
{
    const struct packet *p = w->p;
    bool is_first = !known || !t->requests || t->request.captured_on != p->captured_on;
    if (!is_first && t->requests == 1) {
        t->first_ns = t->request.ns;
        t->first_frame = t->request.frame;
    }
    t->requests = is_first ? 1 : t->requests + 1;
    question_note_packet(w, &t->request, request_number(p));
}

static void note_subject(struct mad_transaction *t, const struct sa *sa, bool has_gid)
{
    t->followed = true;
    t->answered_frame = 0;
    t->alike = (uint8_t)t->port.id;
    t->method = sa->mad.method;
    t->attribute = sa->mad.attribute;
    t->mask = sa->component_mask;
    t->has_record = has_gid;
}

/* Records are no longer than PATH_SIZE, but those that were captured may be shorter. */
APART static void wait_with_part(const struct watch *w, struct mad_transaction *t)
{
    const struct sa *sa = &w->p->mad.sa;
    if (t->has_record)
        memcpy(t->record, sa->data.p, sa->data.cap);
    else
        memset(t->record, 0, sizeof t->record);
    transaction_waits(w, t, PENDING_NS);
}

static inline void begin(const struct watch *w, struct mad_transaction *t)
{
    t->port = w->p->src;
    t->tid = w->p->mad.mad.tid;
    t->answered_frame = 0;
    t->followed = false;
    t->again = 0;
}

static inline void note(const struct watch *w, struct mad_transaction *t, bool known)
{
    const struct sa *sa = &w->p->mad.sa;
    bool has_gid = sa_has_gid(sa);
    note_request(w, t, known);
    if (!is_followed(w, t, has_gid))
        return;
    note_subject(t, sa, has_gid);
    if (!has_gid || sa->data.cap < sizeof t->record) {
        wait_with_part(w, t);
        return;
    }
    memcpy(t->record, sa->data.p, sizeof t->record);
    transaction_waits(w, t, PENDING_NS);
}

/* So many times a request is sent again after an answer: the answers do not reach the requester. */
enum { ANSWERED_IN_VAIN = 2 };

/* The transaction ID tells it from another request about the same thing. */
static void watch_answered(const struct watch *w, struct mad_transaction *t)
{
    if (!t->answered_frame || is_answered(w, t) || packet_is_corrupt(w->p))
        return;
    t->again += t->again < ANSWERED_IN_VAIN;
    if (t->again == ANSWERED_IN_VAIN)
        watch_cut_requester(w, w->p->ib.slid);
}

APART static void ask_again(const struct watch *w, struct mad_transaction *t)
{
    if (transaction_has_copy(w, t, request_number(w->p)))
        return;
    if (t->number)
        transactions_ask(w);
    watch_answered(w, t);
    note(w, t, true);
}

APART static void ask_instead(const struct watch *w, struct mad_transaction *t)
{
    replace(w, t);
    begin(w, t);
    note(w, t, false);
}

OFTEN APART void sa_transaction_ask(const struct watch *w, struct mad_transaction *t)
{
    if (transaction_is(t, w->p->src, w->p->mad.mad.tid)) {
        ask_again(w, t);
    } else if (!w->p->copy_of && transaction_is_open(t)) {
        ask_instead(w, t);
    } else if (!w->p->copy_of) {
        begin(w, t);
        note(w, t, false);
    }
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
