/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets of the SA class other than requests and their responses: Reports that their subscriber
 * does not answer (IBA 13.4.9), and transfers of tables that one end aborts, or of which it does
 * not acknowledge a segment (IBA 13.6.2).
 */
#include "analysis/question.h"
#include "wire/put.h"

/* ---- Reports */

void report_unanswered(const struct watch *w, struct question *q)
{
    struct sender who = sender_of_lid(w, q->peer);
    const struct event_key key = event_key(w, EVENT_REPORT_UNANSWERED, who.gid, NULL, q->peer);
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, q->first_frame,
                "it has not answered a Report of the SA at LID %u: %u since frame %u", q->lid,
                q->waited, q->first_frame);
}

/* A Report keeps its transaction ID when it is sent again. */
static struct question_key key_of_report(const struct watch *w, struct port sa,
                                         struct port subscriber)
{
    uint8_t who[GID_SIZE] = {0}, about[GID_SIZE] = {0};
    put64(who, subscriber.id);
    put64(about, w->p->mad.mad.tid);
    return question_key(w, QUESTION_REPORT, sa.id, who, about);
}

static void reported(const struct watch *w)
{
    const struct question_key key = key_of_report(w, w->p->src, w->p->dst);
    question_ask(w, &key, w->p->ib.psn + UINT64_C(1));
}

void watch_report(const struct watch *w)
{
    if (!w->p->copy_of)
        watch_notice(w);
    if (!port_to_lid(w->p->src) || !port_to_lid(w->p->dst) || packet_is_corrupt(w->p))
        return;
    if (w->p->mad.mad.method == SA_REPORT) {
        reported(w);
        return;
    }
    const struct question_key key = key_of_report(w, w->p->dst, w->p->src);
    struct question *q = question_find(w, &key);
    if (q)
        question_answer(w, q);
}

/* ---- transfers */

/* IBA 13.6.2.1 */
static const struct name rmpp_status_names[] = {
    {1, "resources exhausted"},
    {118, "the transfer takes too long"},
    {119, "wrong payload length"},
    {120, "wrong segment number"},
    {121, "wrong RMPP type"},
    {122, "the window is too small"},
    {123, "the segment number is too big"},
    {124, "illegal status"},
    {125, "unknown version"},
    {126, "too many retries"},
    {127, "unspecified"},
    {0, NULL},
};

static struct question_key key_of_segment(const struct watch *w, struct port from, struct port to,
                                          uint32_t segment)
{
    uint8_t who[GID_SIZE] = {0}, about[GID_SIZE] = {0};
    put64(who, to.id);
    put64(about, w->p->mad.mad.tid);
    put32(about + sizeof(uint64_t), segment);
    return question_key(w, QUESTION_SEGMENT, from.id, who, about);
}

void segment_unanswered(const struct watch *w, struct question *q)
{
    struct sender who = sender_of_lid(w, q->peer);
    const char *attribute = names_find(sa_attribute_names, q->type);
    const struct event_key key = event_key(w, EVENT_RMPP_ABORTED, who.gid, NULL,
                                           (uint64_t)q->peer << 32 | q->lid);
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, q->first_frame,
                "it does not acknowledge segment %u of a table (%s) of LID %u: sent %u times since "
                "frame %u",
                be32(q->key.about + sizeof(uint64_t)), attribute ? attribute : "unknown attribute",
                q->lid, q->waited, q->first_frame);
}

void watch_segment(const struct watch *w)
{
    const struct sa *sa = &w->p->mad.sa;
    if (!port_to_lid(w->p->src) || !port_to_lid(w->p->dst) || packet_is_corrupt(w->p))
        return;
    const struct question_key key = key_of_segment(w, w->p->src, w->p->dst, sa->segment);
    struct question *q = question_ask(w, &key, w->p->ib.psn + UINT64_C(1));
    if (q)
        q->type = sa->mad.attribute;
}

/* An ACK is for all segments up to its own; a STOP or an ABORT ends the transfer. */
static void acknowledged(const struct watch *w)
{
    enum { WINDOW = 16 };
    const struct sa *sa = &w->p->mad.sa;
    for (uint32_t i = 0; i < WINDOW && i < sa->segment; i++) {
        const struct question_key key = key_of_segment(w, w->p->dst, w->p->src, sa->segment - i);
        struct question *q = question_find(w, &key);
        if (q)
            question_answer(w, q);
    }
}

void watch_rmpp(const struct watch *w)
{
    const struct packet *p = w->p;
    const struct sa *sa = &p->mad.sa;
    if (!packet_is_corrupt(p))
        acknowledged(w);
    if ((sa->rmpp_type != RMPP_TYPE_ABORT && sa->rmpp_type != RMPP_TYPE_STOP) ||
        view_has(p->mad.bytes, RMPP_STATUS, 1) != WIRE_OK)
        return;
    uint8_t status = p->mad.bytes.p[RMPP_STATUS];
    const char *name = names_find(rmpp_status_names, status),
               *attribute = names_find(sa_attribute_names, sa->mad.attribute);
    struct sender who = sender_of_lid(w, port_to_lid(p->src));
    const struct event_key key = event_key(w, EVENT_RMPP_ABORTED, who.gid, NULL,
                                           (uint64_t)port_to_lid(p->src) << 32 |
                                               (uint64_t)port_to_lid(p->dst) << 8 | status);
    watch_event(w, &key, &who, 0,
                "it ends the transfer of a table (%s) with LID %u: RMPP status %u, %s",
                attribute ? attribute : "unknown attribute", port_to_lid(p->dst), status,
                name ? name : "unknown");
}
