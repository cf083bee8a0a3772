/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IPoIB connections that do not come about, or end without their owner's will (IBA 12.6, 9.7.5).
 * A Linux host that gives a connection up after its retries sends a DREQ, as it does for an idle
 * one; so only a DREQ without an answer, and a NAK that ends the connection, show the loss.
 */
#include "analysis/ends.h"
#include "analysis/question.h"

/*
 * RFC 4755 section 3.3: of two REQs that cross, the side with the larger address (QPN, then GID)
 * refuses the other's, with this reason. A capture that begins late, or lost packets, shows only
 * that they may have crossed.
 */
static bool must_refuse(const struct cm *cm, const struct connection *c)
{
    uint32_t local = cm_service_qpn(c->service_id), other = c->requester.ud_qpn;
    bool crossed = c->crossing == CROSSED || c->crossing == MAY_HAVE_CROSSED;
    if (!crossed || cm->reason != CM_REJ_CONSUMER || !c->requester.has_private || !c->endport[0] ||
        !c->endport[1])
        return false;
    return local != other ? local > other
                          : memcmp(c->endport[1]->gid, c->endport[0]->gid, GID_SIZE) > 0;
}

APART static void refused(const struct watch *w, const struct cm *cm, const struct connection *c)
{
    bool by_requester = connection_is_by_requester(c, cm, w->p->src);
    if (!by_requester && must_refuse(cm, c))
        return;
    struct sender who = sender_of_side(w, c, by_requester);
    const char *reason = names_find(cm_reject_names, cm->reason);
    char other[SENDER_TEXT_SIZE];
    const struct event_key key = key_of_ends(w, EVENT_CONNECTION_REFUSED, c,
                                             (uint64_t)cm->reason << 1 | by_requester);
    watch_event(w, &key, &who, c->req_frame, "it %s the connection with %s: reason %u, %s",
                by_requester ? "gives up" : "refuses", end_text(w, c, !by_requester, other),
                cm->reason, reason ? reason : "unknown");
}

/* An APR: the connection goes on, without the alternate path (IBA 12.6.10). */
APART static void path_refused(const struct watch *w, const struct cm *cm,
                               const struct connection *c)
{
    bool by_requester = connection_is_by_requester(c, cm, w->p->src);
    struct sender who = sender_of_side(w, c, by_requester);
    char other[SENDER_TEXT_SIZE];
    const struct event_key key = key_of_ends(w, EVENT_CONNECTION_REFUSED, c,
                                             UINT64_C(1) << 24 | (uint64_t)cm->status << 1 |
                                                 by_requester);
    watch_event(w, &key, &who, c->req_frame,
                "it refuses an alternate path of the connection with %s: APR status %u",
                end_text(w, c, !by_requester, other), cm->status);
}

/* ---- messages without an answer */

/* In the key: the connection, and which end asks. */
static struct question_key key_of_message(const struct watch *w, enum question_kind kind,
                                          const struct connection *c, bool by_requester)
{
    return question_key(w, kind, (uint64_t)c->number << 1 | by_requester, NULL, NULL);
}

static void ask(const struct watch *w, enum question_kind kind, const struct connection *c,
                bool by_requester)
{
    const struct question_key key = key_of_message(w, kind, c, by_requester);
    question_ask(w, &key, w->p->ib.psn + UINT64_C(1));
}

static bool asks_as_requester(const struct question *q)
{
    return q->key.requester & 1;
}

static const struct connection *connection_of(const struct watch *w, const struct question *q)
{
    return connections_at(w->f->connections, (unsigned)(q->key.requester >> 1) - 1);
}

/* what: "requests to connect (REQ)" */
static void unanswered(const struct watch *w, enum event_kind kind, const struct question *q,
                       const char *what)
{
    const struct connection *c = connection_of(w, q);
    bool by_requester = asks_as_requester(q);
    struct sender who = sender_of_side_at(w, c, by_requester, q->lid),
                  other = sender_of_side_at(w, c, !by_requester, q->peer);
    char text[SENDER_TEXT_SIZE];
    const struct event_key key = key_of_ends(w, kind, c, by_requester);
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, q->first_frame, "%s has not answered its %s: %u since frame %u",
                sender_text(text, &other), what, q->waited, q->first_frame);
}

void req_unanswered(const struct watch *w, struct question *q)
{
    if (!connection_has_response(connection_of(w, q)))
        unanswered(w, EVENT_CONNECTION_UNANSWERED, q, "requests to connect (REQ)");
}

void dreq_unanswered(const struct watch *w, struct question *q)
{
    if (!connection_of(w, q)->drep_frame)
        unanswered(w, EVENT_CONNECTION_LOST, q, "requests to disconnect (DREQ)");
}

/* The requester answers a REP by an RTU or a REJ, or shows by data that it has it. */
void rep_unanswered(const struct watch *w, struct question *q)
{
    const struct connection *c = connection_of(w, q);
    if (c->rtu_frame || connection_is_over(c))
        return;
    struct sender who = sender_of_side_at(w, c, false, q->lid),
                  other = sender_of_side_at(w, c, true, q->peer);
    char text[SENDER_TEXT_SIZE];
    const struct event_key key = key_of_ends(w, EVENT_CONNECTION_UNANSWERED, c, 2);
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, q->first_frame,
                "%s has sent no RTU for its responses (REP), nor data: %u since frame %u",
                sender_text(text, &other), q->waited, q->first_frame);
}

/* An MRA: the answer to a REQ or a REP takes more time (IBA 12.6.6). */
APART static void delayed(const struct watch *w, const struct connection *c)
{
    bool by_requester = connection_is_by_requester(c, packet_cm(w->p), w->p->src);
    const struct question_key key = key_of_message(w, by_requester ? QUESTION_REP : QUESTION_REQ, c,
                                                   !by_requester);
    struct question *q = question_find(w, &key);
    if (q)
        question_answer(w, q);
}

/* The smaller Receive MTU decides (RFC 4755 section 5.1). */
static void watch_mtus(const struct watch *w, const struct connection *c)
{
    const struct connection_side *one = &c->requester, *other = &c->responder;
    char text[SENDER_TEXT_SIZE];
    if (!one->has_private || !other->has_private || one->recv_mtu == other->recv_mtu ||
        !one->recv_mtu || !other->recv_mtu) /* 0: the message has no Receive MTU */
        return;
    struct sender who = sender_of_side(w, c, true);
    const struct event_key key = key_of_ends(w, EVENT_MTU_MISMATCH, c, 0);
    watch_event(w, &key, &who, c->req_frame,
                "its Receive MTU is %u, that of %s is %u: the connection's IPoIB MTU is %u",
                one->recv_mtu, end_text(w, c, false, text), other->recv_mtu, connection_mtu(c));
}

/* The packet's message; NULL: none of a connection of IPoIB that is known. */
static const struct cm *message_of(const struct watch *w)
{
    const struct connection *c = w->p->classification.connection;
    return c && connection_is_ipoib(c) ? packet_cm(w->p) : NULL;
}

static inline void watch_question(const struct watch *w, const struct cm *cm)
{
    const struct connection *c = w->p->classification.connection;
    if (cm->message == CM_REQ)
        ask(w, QUESTION_REQ, c, true);
    else if (cm->message == CM_REP)
        ask(w, QUESTION_REP, c, false);
    else if (cm->message == CM_DREQ)
        ask(w, QUESTION_DREQ, c, connection_is_by_requester(c, cm, w->p->src));
}

void watch_connection_question(const struct watch *w)
{
    const struct cm *cm = message_of(w);
    if (cm)
        watch_question(w, cm);
}

OFTEN APART static void watch_request(const struct watch *w, const struct cm *cm,
                                      const struct connection *c)
{
    watch_question(w, cm);
    watch_first_psn(w, cm, c);
    watch_lids_of_request(w, c);
    watch_connection_opens(w, c);
}

OFTEN APART static void watch_response(const struct watch *w, const struct cm *cm,
                                       const struct connection *c)
{
    watch_question(w, cm);
    watch_first_psn(w, cm, c);
    watch_mtus(w, c);
}

OFTEN APART static void watch_disconnect(const struct watch *w, const struct cm *cm,
                                         const struct connection *c)
{
    watch_connection_closes(w, c, true);
    watch_question(w, cm);
}

OFTEN APART static void watch_disconnected(const struct watch *w, const struct connection *c)
{
    watch_connection_closes(w, c, false);
}

OFTEN void watch_connection_message(const struct watch *w)
{
    const struct cm *cm = message_of(w);
    const struct connection *c = w->p->classification.connection;
    if (!cm) {
        watch_other_service(w);
        return;
    }
    switch (cm->message) {
    case CM_REQ:
        watch_request(w, cm, c);
        break;
    case CM_REP:
        watch_response(w, cm, c);
        break;
    case CM_DREQ:
        watch_disconnect(w, cm, c);
        break;
    case CM_DREP:
        watch_disconnected(w, c);
        break;
    case CM_REJ:
        refused(w, cm, c);
        break;
    case CM_APR:
        if (cm->status)
            path_refused(w, cm, c);
        break;
    case CM_MRA:
        delayed(w, c);
        break;
    default:
        break;
    }
}
