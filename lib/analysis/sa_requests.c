/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to the SA that have no answer, and paths and others that it refuses. An answer is
 * missing if two retries have none either (analysis/question.h); or if the SA sent another packet
 * 3 s later (a Linux host has given up by then), and none of its packets is missing in the capture,
 * as its PSNs show.
 */
#include "analysis/sa_requests.h"
#include "wire/put.h"

enum { REQUEST_TEXT = GID_TEXT + 80 };

/* "its Set(InformInfo)" */
static void other_request_text(const struct question *q, char text[REQUEST_TEXT])
{
    uint16_t attribute = be16(q->key.who + SA_KEY_ATTRIBUTE);
    const char *method = names_find(sa_method_names, q->key.who[SA_KEY_METHOD]),
               *name = names_find(sa_attribute_names, attribute);
    g_snprintf(text, REQUEST_TEXT, "its %s(%s)", method ? method : "request",
               name ? name : "unknown attribute");
}

/* "its join of the group ff12:..." */
static const char *request_text(const struct question *q, char text[REQUEST_TEXT])
{
    char gid[GID_TEXT];
    text_of_gid(gid, q->key.about);
    if (q->key.kind == QUESTION_SA) {
        other_request_text(q, text);
        return text;
    }
    g_snprintf(text, REQUEST_TEXT, "%s %s",
               q->key.kind == QUESTION_JOIN    ? "its join of the group"
               : q->key.kind == QUESTION_LEAVE ? "its leave of the group"
                                               : "its request of the path to",
               gid);
    return text;
}

enum { IDLE_TEXT = 80 };

/* Has the SM of the SA said since the first request that it is not the master? */
static const char *idle_text(const struct watch *w, const struct question *q, char text[IDLE_TEXT])
{
    static const char *const states[] = {"not active", "discovering", "standby"};
    const struct idle_manager *m = &w->questions->idle_managers[q->peer % IDLE_MANAGERS];
    *text = '\0';
    if (m->frame > q->first_frame && m->subnet == q->key.subnet && m->lid == q->peer)
        g_snprintf(text, IDLE_TEXT, "; its subnet manager is %s, by the SMInfo in frame %u",
                   states[m->state], m->frame);
    return text;
}

static void unanswered(const struct watch *w, const struct question *q, unsigned n, const char *why)
{
    struct sender who = sender_of_lid(w, q->lid);
    char text[REQUEST_TEXT], stray[80] = "", idle[IDLE_TEXT];
    const struct event_key key = sa_key_of_unanswered(w, q, &who);
    if (q->astray)
        g_snprintf(stray, sizeof stray, "; frame %u answers it, but goes to LID %u", q->stray_frame,
                   q->astray);
    else if (q->stray_qkey)
        g_snprintf(stray, sizeof stray, "; frame %u answers it, but with the Q_Key 0x%08x",
                   q->stray_frame, q->stray_qkey);
    else if (q->stray_frame)
        g_snprintf(stray, sizeof stray, "; frame %u answers it with another transaction ID",
                   q->stray_frame);
    watch_event(w, &key, &who, q->first_frame,
                "the SA at LID %u has not answered %s so far: %u request%s since frame %u%s%s%s",
                q->peer, request_text(q, text), n, n == 1 ? "" : "s", q->first_frame, why, stray,
                idle_text(w, q, idle));
}

void sa_unanswered(const struct watch *w, struct question *q)
{
    const struct sender who = sender_of_lid(w, q->lid);
    const struct event_key key = sa_key_of_unanswered(w, q, &who);
    watch_no_copy(w, &key);
    char why[40];
    g_snprintf(why, sizeof why, ", %g s after the last", question_wait_s(q->key.kind));
    unanswered(w, q, q->waited, why);
}

/* The current packet proves it. */
static void proved(const struct watch *w, struct question *q, const char *why)
{
    unanswered(w, q, question_lacks(w, q), why);
    question_close(w, q);
    q->reported = true;
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

/* A query without a result is no refusal, but a broadcast group must exist. */
static void refused(const struct watch *w, const struct question *q,
                    const struct mad_transaction *t)
{
    uint16_t status = w->p->mad.mad.status;
    struct sender who = sender_of_lid(w, q->lid);
    char text[REQUEST_TEXT];
    bool is_query = q->key.who[SA_KEY_METHOD] != SA_SET && q->key.who[SA_KEY_METHOD] != SA_DELETE;
    const struct event_key key = event_key(w, EVENT_SA_REFUSED, who.gid, NULL,
                                           (uint64_t)who.lid << 48 |
                                               (uint64_t)be24(q->key.who) << 16 | status);
    if (is_query && (status & SA_STATUS_MASK) == SA_STATUS_NO_RECORDS) {
        if (be16(q->key.who + SA_KEY_ATTRIBUTE) == SA_MC_MEMBER_RECORD)
            watch_missing_group(w, t);
        return;
    }
    watch_event(w, &key, &who, q->first_frame, "the SA refuses %s: status 0x%04x, %s",
                request_text(q, text), status, sa_status_name(status));
}

/* Was every packet of the requester's GSI captured since before the question? */
static bool has_no_other_request(const struct watch *w, const struct question *q)
{
    const struct endport *port = endports_by_lid(w->f->endports, w->p->at.interface, q->lid);
    uint32_t since = port ? endport_gsi_since(port) : 0;
    return since && since < q->first_frame;
}

/* A response to no request that was captured: is it about what its receiver waits for? */
static void watch_stray(const struct watch *w)
{
    const struct sa *sa = &w->p->mad.sa;
    static const uint8_t methods[] = {SA_GET, SA_SET, SA_DELETE};
    for (unsigned i = 0; i < G_N_ELEMENTS(methods); i++) {
        uint8_t response = methods[i] == SA_DELETE ? SA_DELETE_RESP : SA_GET_RESP;
        const struct question_key key = sa_question_key(w->p->dst, sa->mad.attribute, methods[i],
                                                        sa->data.p);
        struct question *q = response == sa->mad.method ? question_find(w, &key) : NULL;
        if (!q || q->stray_frame || !has_no_other_request(w, q))
            continue;
        q->stray_frame = w->p->at.frame;
        question_open(w, q);
    }
}

/* The answer to a request of another port, with its transaction ID and its subject. */
static void watch_astray(const struct watch *w)
{
    const struct sa *sa = &w->p->mad.sa;
    unsigned gid = sa_gid_place(sa->mad.attribute).gid;
    const struct mad_transaction *t;
    unsigned i = 0;
    while ((t = transactions_asked(w, &i)) != NULL) {
        if (t->tid != sa->mad.tid || port_same(t->port, w->p->dst) ||
            t->attribute != sa->mad.attribute || !t->has_record ||
            !gid_same(t->record + gid, sa->data.p + gid))
            continue;
        const struct question_key key = transaction_key(t);
        struct question *q = question_find(w, &key);
        if (!q || q->stray_frame)
            continue;
        q->stray_frame = w->p->at.frame;
        q->astray = port_to_lid(w->p->dst);
    }
}

/* The answer to no request that was captured. */
APART static void answered_unknown(const struct watch *w, struct mad_transaction *t)
{
    bool takes_place = transaction_is_open(t);
    question_unasked(w, port_to_lid(w->p->dst));
    watch_path(w, NULL);
    if (takes_place)
        transaction_give_up(w, t, NULL);
    *t = (struct mad_transaction){.port = w->p->dst, .tid = w->p->mad.mad.tid};
    if (takes_place)
        return;
    transactions_ask(w);
    if (transactions_none_asked(w) || !sa_has_gid(&w->p->mad.sa))
        return;
    watch_stray(w);
    watch_astray(w);
}

/* The answer may show that the request was refused. */
APART static void watch_refusal(const struct watch *w, const struct mad_transaction *t)
{
    transactions_ask(w);
    const struct question_key key = transaction_key(t);
    const struct question *q = t->followed ? question_find(w, &key) : NULL;
    watch_path(w, q);
    if (q && q->key.kind == QUESTION_SA)
        refused(w, q, t);
}

/* A later answer may be to an older request with the same transaction ID. */
enum { ANSWER_MS = 60000 };

static bool is_old(const struct watch *w, const struct mad_transaction *t)
{
    return (int64_t)((uint64_t)w->p->at.ns - (uint64_t)t->request.ns) >
           ANSWER_MS * (int64_t)NS_PER_MS;
}

/* The answer reaches the requester. */
static void answered(const struct watch *w, struct mad_transaction *t)
{
    if (transaction_is_open(t) && !is_old(w, t))
        watch_sa_answer(w, t);
    if (t->followed)
        transaction_answer(w, t);
    t->answered_frame = w->p->at.frame;
}

/*
 * An answer with wrong CRCs is there, so the lack of one is no event. Of a capture whose addresses
 * were replaced, the CRCs of all packets with these are wrong.
 */
APART static void answered_corrupt(const struct watch *w, struct mad_transaction *t)
{
    if (transaction_is_open(t))
        transaction_answer(w, t);
}

/* The requester does not receive it. */
APART static void answered_in_vain(const struct watch *w, const struct mad_transaction *t)
{
    watch_dropped_answer(w, t);
    if (!transaction_is_open(t))
        return;
    transactions_ask(w);
    const struct question_key key = transaction_key(t);
    struct question *q = question_find(w, &key);
    if (!q)
        return;
    q->stray_frame = w->p->at.frame;
    q->stray_qkey = w->p->ib.qkey;
}

static void note_time(const struct watch *w, struct mad_transaction *t)
{
    if (t->requests && !sa_is_early(w, t))
        sa_answered_late(w, t);
    t->requests = 0;
}

/* Without a request that was captured, of several, late, or not as it should be. */
static void responded_oddly(const struct watch *w, struct mad_transaction *t, bool known)
{
    const struct packet *p = w->p;
    if (packet_is_corrupt(p)) {
        if (known)
            answered_corrupt(w, t);
        return;
    }
    if (known && sa_answer_is_dropped(w)) {
        answered_in_vain(w, t);
        return;
    }
    if (known)
        note_time(w, t);
    if (!port_to_lid(p->dst))
        return;
    if (!known)
        answered_unknown(w, t);
    else if (p->mad.mad.status)
        watch_refusal(w, t);
    answered(w, t);
}

/* That may have asked questions, or show that they have no answer. */
APART static void watch_odd_response(const struct watch *w, struct mad_transaction *t, bool known)
{
    responded_oddly(w, t, known);
    if (w->p->at.ns >= w->questions->proof_ns)
        watch_open_requests(w);
}

/*
 * Nearly all answers are the first one of a single request. The model knows whether they are
 * corrupt; the requester of what is followed has a LID.
 */
APART static void responded(const struct watch *w, struct mad_transaction *t)
{
    const struct packet *p = w->p;
    bool known = transaction_is(t, p->dst, p->mad.mad.tid);
    if (!known || !transaction_is_open(t) || p->mad.mad.status || packet_is_known_corrupt(p) ||
        sa_answer_is_dropped(w) || !sa_is_early(w, t) || transaction_may_have_others(w, t)) {
        watch_odd_response(w, t, known);
        return;
    }
    transaction_stops(w, t);
    t->requests = 0;
    t->answered_frame = p->at.frame;
    watch_sa_answer(w, t);
}

/* Was every packet of the SA since the question's first request captured? */
static bool is_proved(const struct watch *w, const struct question *q)
{
    const struct sa_sequence *s = subnet_sa_sequence(w->f->subnet, w->p->at.interface);
    return s && sa_sequence_is_shown(s) && sa_sequence_is_whole_since(s, q->first_frame) &&
           watch_ms(w) - q->first_ms >= GIVEN_UP_MS && question_has_order(w, q);
}

/* A packet that reaches the requester, later than it waits for the answer. */
static bool is_too_late(const struct watch *w, const struct question *q)
{
    return q->stray_frame && !q->astray && w->p->ib.dlid == q->lid &&
           watch_ms(w) - q->last_ms >= GIVEN_UP_MS;
}

/* A packet of the SA, but not one that controls a transfer. */
static bool is_sent_by_sa(const struct watch *w)
{
    const struct mad_payload *m = &w->p->mad;
    return w->e->sa_sent && w->p->classification.class == PAYLOAD_MAD && m->has_header &&
           m->kind == MAD_KIND_SA && m->sa.rmpp_type <= RMPP_TYPE_DATA;
}

void watch_open_requests(const struct watch *w)
{
    struct questions *all = w->questions;
    bool by_sa = is_sent_by_sa(w);
    for (unsigned i = all->n_open; i-- > 0;) {
        struct question *q = all->open[i];
        if (q->key.subnet != w->p->at.interface)
            continue;
        if (by_sa && question_is_of_sa(q) && is_proved(w, q))
            proved(w, q, ", and no packet of the SA is missing in the capture");
        else if (is_too_late(w, q) && question_seen(w, q) != ANSWER_MAY_BE_LOST)
            proved(w, q, "");
    }
    all->proof_ns = question_next_proof(all);
}

/* The model has found the place already: for the requester and its transaction ID. */
static inline void watch_message(const struct watch *w)
{
    uint8_t method = w->p->mad.mad.method;
    struct mad_transaction *t = transaction_at(w, w->f->transaction);
    if (method == SA_REPORT || method == SA_REPORT_RESP)
        watch_report(w);
    else if (method & MAD_RESPONSE)
        responded(w, t);
    else
        sa_transaction_ask(w, t);
}

APART static void watch_transfer(const struct watch *w)
{
    if (w->p->mad.sa.rmpp_type > RMPP_TYPE_DATA) {
        watch_rmpp(w);
        return;
    }
    watch_segment(w);
    watch_message(w);
}

/* Most messages are no part of a transfer of several. */
void watch_sa_requests(const struct watch *w)
{
    if (w->p->mad.sa.rmpp_type >= RMPP_TYPE_DATA)
        watch_transfer(w);
    else
        watch_message(w);
}
