/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is to answer a question, and whether the capture may have lost the answer. A queue pair
 * counts its packets (model/psn_gaps.h): if one is missing since the first request, it may be the
 * answer. If the port has sent nothing since, its next packet will show it, and then the event is
 * taken back. A port of which no packet was captured shows nothing, but the SA's answers to it do:
 * it has sent requests that the capture does not have.
 */
#include "analysis/smps.h"
#include "analysis/unanswered.h"
#include "rules/check_context.h"

/* ---- ports of which the capture sees only what they receive */

/* So many answers are not those to requests from before the capture. */
enum { UNASKED = 3 };

void question_unasked(const struct watch *w, uint16_t lid)
{
    struct unasked *u = &w->questions->unasked[lid % UNASKED_PORTS];
    if (u->lid != lid || u->subnet != w->p->at.interface)
        *u = (struct unasked){.lid = lid, .subnet = w->p->at.interface};
    u->answers += u->answers < UNASKED;
}

static bool has_sent(const struct watch *w, struct port port)
{
    return psn_gaps_sender(w->f->psn_gaps, port, PSN_SMI) ||
           psn_gaps_sender(w->f->psn_gaps, port, PSN_GSI) ||
           psn_gaps_sender(w->f->psn_gaps, port, PSN_DATA);
}

/* The SA answers the port, and nothing that the port sends was captured. */
static bool is_deaf_to(const struct watch *w, struct port port)
{
    const struct unasked *u = &w->questions->unasked[port_to_lid(port) % UNASKED_PORTS];
    return u->answers == UNASKED && u->lid == port_to_lid(port) &&
           u->subnet == port_interface(port) && !has_sent(w, port);
}

enum answer_seen question_answer_of(const struct watch *w, struct port port, enum psn_class class,
                                    uint32_t first_frame, uint32_t last_frame)
{
    const struct psn_sender *s = port.id ? psn_gaps_sender(w->f->psn_gaps, port, class) : NULL;
    if (!s)
        return is_deaf_to(w, port) ? ANSWER_MAY_BE_LOST : ANSWER_NOT_SENT;
    if (s->gap_frame > first_frame)
        return ANSWER_MAY_BE_LOST;
    return s->last_frame < last_frame ? ANSWER_SILENT : ANSWER_NOT_SENT;
}

static enum psn_class class_of(enum question_kind kind)
{
    switch (kind) {
    case QUESTION_ARP:
    case QUESTION_ND:
    case QUESTION_ECHO:
    case QUESTION_LARGE:
    case QUESTION_DHCP:
        return PSN_DATA;
    case QUESTION_SMP:
        return PSN_SMI;
    default:
        return PSN_GSI;
    }
}

/* The port that has announced the address. Id 0: not known. */
static struct port holder_of(const struct watch *w, const struct question *q)
{
    struct ip ip = ip_of_key(q->key.about);
    const struct neighbour *n = neighbours_of_ip(w->f->neighbours, (uint32_t)q->key.requester, &ip);
    const struct endport *port = n ? endports_by_gid(w->f->endports, w->p->at.interface,
                                                     n->lladdr + LLADDR_GID)
                                   : NULL;
    return port && port->lid ? port_lid(w->p->at.interface, port->lid) : (struct port){0};
}

/* The end of a directed route. */
static struct port end_of_route(const struct question *q)
{
    const uint8_t *about = q->key.about;
    return port_of_route((uint16_t)q->key.subnet, be32(q->key.who + SMP_KEY_AGENT), about + 1,
                         about[0]);
}

struct port question_answerer(const struct watch *w, const struct question *q)
{
    if (q->key.kind == QUESTION_ARP || q->key.kind == QUESTION_ND)
        return holder_of(w, q);
    if (q->key.kind == QUESTION_SMP && q->key.about[0] != SMP_BY_LID)
        return end_of_route(q);
    return q->peer < LID_MULTICAST_FIRST ? port_lid((uint16_t)q->key.subnet, q->peer)
                                         : (struct port){0};
}

enum answer_seen question_seen(const struct watch *w, const struct question *q)
{
    return question_answer_of(w, question_answerer(w, q), class_of(q->key.kind), q->first_frame,
                              q->since_frame);
}

/* ---- events that are taken back */

void question_may_take_back(const struct watch *w, struct port port, enum psn_class class,
                            uint32_t first_frame, doubt_ends *sends)
{
    struct doubts *all = &w->questions->doubts;
    const struct psn_sender *s = psn_gaps_sender(w->f->psn_gaps, port, class);
    const struct link_event *e = w->sink->last;
    if (!s || !e)
        return;
    for (unsigned i = 0; i < all->count; i++)
        if (all->list[i].event == e && all->list[i].sender == s)
            return;
    if (all->count < DOUBTS_MAX)
        all->list[all->count++] = (struct doubtful){
            e, s, s->last_frame, first_frame, e->count - 1, sends};
    watch_alert(w, ALERT_DOUBTS);
}

void question_doubt(const struct watch *w, const struct question *q)
{
    question_may_take_back(w, question_answerer(w, q), class_of(q->key.kind), q->first_frame, NULL);
}

void question_no_doubt(const struct watch *w, const struct link_event *event)
{
    struct doubts *all = &w->questions->doubts;
    for (unsigned i = all->count; i-- > 0;)
        if (all->list[i].event == event)
            all->list[i] = all->list[--all->count];
}

void watch_doubts(const struct watch *w)
{
    struct doubts *all = &w->questions->doubts;
    for (unsigned i = all->count; i-- > 0;) {
        const struct doubtful d = all->list[i];
        if (d.sender->last_frame == d.last_frame)
            continue;
        all->list[i] = all->list[--all->count];
        if (d.sender->gap_frame > d.first_frame) {
            question_no_doubt(w, d.event);
            watch_take_back(w, d.event, d.count);
        } else if (d.sends) {
            question_no_doubt(w, d.event);
            d.sends(w, d.event);
        }
        i = MIN(i, all->count);
    }
    if (!all->count)
        watch_no_alert(w, ALERT_DOUBTS);
}
