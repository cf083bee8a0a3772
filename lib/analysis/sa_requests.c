/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to the SA that have no answer, and paths that it refuses. An answer is missing if two
 * retries have none either, while other packets to the requester were captured; or if the SA sent
 * another packet 3 s later (a Linux host has given up by then), and none of its packets is missing
 * in the capture, as its PSNs show.
 */
#include "analysis/question.h"

enum { GIVEN_UP_MS = 3000 };

static struct sa_transaction *transaction_of(const struct watch *w, struct port requester)
{
    uint64_t tid = w->p->mad.mad.tid;
    return &w->questions->transactions[port_transaction_place(&requester, tid) % TRANSACTIONS];
}

static bool is_of(const struct sa_transaction *t, struct port requester, uint64_t tid)
{
    return t->requester == requester.id && t->tid == tid;
}

static const char *words_of(uint32_t kind)
{
    return kind == QUESTION_JOIN    ? "its join of the group"
           : kind == QUESTION_LEAVE ? "its leave of the group"
                                    : "its request of the path to";
}

static void unanswered(const struct watch *w, const struct question *q, const char *why)
{
    struct sender who = sender_of_lid(w, q->lid);
    char gid[GID_TEXT];
    unsigned n = question_lacks(w, q);
    const struct event_key key = event_key(w, EVENT_SA_UNANSWERED, who.gid, q->key.about,
                                           (uint64_t)q->lid << 8 | q->key.kind);
    watch_event(w, &key, &who, q->first_frame,
                "the SA at LID %u has not answered %s %s: %u request%s since frame %u%s", q->peer,
                words_of(q->key.kind), text_of_gid(gid, q->key.about), n, n == 1 ? "" : "s",
                q->first_frame, why);
}

/* ---- requests */

/* Is it a request that is followed? about: the group or the other end of the path. */
static enum question_kind request_kind(const struct packet *p, const uint8_t **about)
{
    const struct sa *sa = &p->mad.sa;
    uint16_t attribute = sa->mad.attribute;
    if (attribute == SA_MC_MEMBER_RECORD && view_has(sa->data, 0, MCM_SIZE) == WIRE_OK) {
        *about = sa->data.p + MCM_MGID;
        return sa->mad.method == SA_SET      ? QUESTION_JOIN
               : sa->mad.method == SA_DELETE ? QUESTION_LEAVE
                                             : QUESTION_NONE;
    }
    if (attribute != SA_PATH_RECORD || view_has(sa->data, 0, PATH_SIZE) != WIRE_OK)
        return QUESTION_NONE;
    *about = sa->data.p + PATH_DGID;
    return sa->mad.method == SA_GET ? QUESTION_PATH : QUESTION_NONE;
}

/* Its answer was captured a moment ago, before it. */
static bool is_answered(const struct watch *w, const struct sa_transaction *t)
{
    return is_of(t, w->p->src, w->p->mad.mad.tid) && t->answered_frame &&
           order_is_uncertain(&w->f->order, t->answered_frame);
}

static void enter_transaction(const struct watch *w, struct sa_transaction *t, struct question *q)
{
    if (t->question && !is_of(t, w->p->src, w->p->mad.mad.tid))
        question_answer(w, t->question); /* its answer would not be recognised any more */
    *t = (struct sa_transaction){w->p->src.id, w->p->mad.mad.tid, q, 0};
}

static void requested(const struct watch *w)
{
    const struct packet *p = w->p;
    const uint8_t *about = NULL;
    enum question_kind kind = request_kind(p, &about);
    struct sa_transaction *t = transaction_of(w, p->src);
    if (kind == QUESTION_NONE || !port_to_lid(p->src) || is_answered(w, t))
        return;
    const struct question_key key = question_key(w, kind, p->src.id, NULL, about);
    struct question *q = question_ask(w, &key, p->ib.psn + UINT64_C(1));
    if (!q)
        return;
    enter_transaction(w, t, q);
    if (question_is_unanswered(w, q, QUESTION_SA_MS))
        unanswered(w, q, "");
    else if (w->f->subnet && subnet_sa_sequence(w->f->subnet, p->at.interface))
        question_open(w, q);
}

/* ---- the SA's packets */

static void path_refused(const struct watch *w, const struct question *q, const uint8_t *dgid)
{
    uint16_t status = w->p->mad.mad.status;
    struct sender who = sender_of_lid(w, port_to_lid(w->p->dst));
    char gid[GID_TEXT];
    const struct event_key key = event_key(w, EVENT_PATH_REFUSED, who.gid, dgid,
                                           (uint64_t)who.lid << 16 | status);
    watch_event(w, &key, &who, q ? q->first_frame : 0,
                "the SA gives it no path to %s: status 0x%04x, %s", text_of_gid(gid, dgid), status,
                sa_status_name(status));
}

static void watch_path(const struct watch *w, const struct question *q)
{
    const struct sa *sa = &w->p->mad.sa;
    bool refused = sa->mad.attribute == SA_PATH_RECORD && sa->mad.method == SA_GET_RESP &&
                   sa->mad.status;
    if (!refused)
        return;
    if (q)
        path_refused(w, q, q->key.about);
    else if (view_has(sa->data, 0, PATH_SIZE) == WIRE_OK)
        path_refused(w, NULL, sa->data.p + PATH_DGID);
}

static void responded(const struct watch *w)
{
    const struct packet *p = w->p;
    struct sa_transaction *t = transaction_of(w, p->dst);
    bool known = is_of(t, p->dst, p->mad.mad.tid);
    struct question *q = known ? t->question : NULL;
    if (packet_is_corrupt(p) || !port_to_lid(p->dst))
        return;
    watch_path(w, q);
    if (t->question)
        question_answer(w, t->question);
    if (!known)
        *t = (struct sa_transaction){p->dst.id, p->mad.mad.tid, NULL, 0};
    t->answered_frame = p->at.frame;
}

/* Was every packet of the SA since the question's first request captured? */
static bool is_proved(const struct watch *w, const struct question *q)
{
    const struct sa_sequence *s = subnet_sa_sequence(w->f->subnet, w->p->at.interface);
    return s && sa_sequence_is_shown(s) && s->gap_frame <= q->first_frame &&
           watch_ms(w) - q->first_ms >= GIVEN_UP_MS;
}

static void sa_sent(const struct watch *w)
{
    struct questions *all = w->questions;
    for (unsigned i = all->n_open; i-- > 0;) {
        struct question *q = all->open[i];
        bool of_sa = q->key.kind >= QUESTION_JOIN && q->key.kind <= QUESTION_PATH;
        if (!of_sa || q->key.subnet != w->p->at.interface || !is_proved(w, q))
            continue;
        unanswered(w, q, ", and no packet of the SA is missing in the capture");
        question_close(w, q);
    }
}

void watch_sa_requests(const struct watch *w)
{
    const struct mad *mad = &w->p->mad.mad;
    bool response = mad->method & MAD_RESPONSE && mad->method != SA_REPORT_RESP;
    if (w->p->mad.sa.rmpp_type > RMPP_TYPE_DATA)
        return;
    if (response)
        responded(w);
    else if (mad->method != SA_REPORT)
        requested(w);
    if (w->e->sa_sent && w->questions->n_open)
        sa_sent(w);
}
