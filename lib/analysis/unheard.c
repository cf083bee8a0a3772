/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ARP requests and neighbour solicitations that a host sends to the group again although they were
 * answered: the answers do not reach it, or it cannot use them. A host that has the answer does not
 * ask again at once: Linux first asks the target itself, and later (RFC 1122 section 2.3.2.1 has no
 * shorter time than some seconds, RFC 4861 section 7.3 none than 5). What the host sends to the
 * target shows that it has the answer.
 */
#include "analysis/forwarding.h"
#include "analysis/unanswered.h"

/* Faster ones are those of a program that waits for nothing (request_rates.c). */
enum { NOT_BEFORE_MS = 500, AGAIN_MS = 3000, UNHEARD_TIMES = 6 };

/* The entry of the pair; else the oldest, empty. */
static struct unheard *entry_of(const struct watch *w, const struct question_key *key)
{
    struct unheard *all = w->questions->unheard, *oldest = &all[0];
    for (unsigned i = 0; i < UNHEARD_MAX; i++) {
        if (all[i].times && question_key_same(&all[i].key, key))
            return &all[i];
        if (!all[i].times || (oldest->times && all[i].ms < oldest->ms))
            oldest = &all[i];
    }
    *oldest = (struct unheard){.key = *key};
    return oldest;
}

APART static void not_heard(const struct watch *w, const struct unheard *u)
{
    struct ip from = ip_of_key(u->key.who), to = ip_of_key(u->key.about);
    struct sender who = sender_at(w, u->lid, &from);
    bool is_nd = u->key.kind == QUESTION_ND;
    enum event_kind kind = is_nd ? EVENT_ND_UNANSWERED : EVENT_ARP_UNANSWERED;
    const struct event_key key = event_key(w, kind, u->key.who, u->key.about,
                                           UINT64_C(2) << 32 | u->key.requester);
    char target[SENDER_TEXT_SIZE];
    watch_event(w, &key, &who, u->first_frame,
                "its %s for %s were answered, and it asks again within 3 s, %u times since frame "
                "%u: the answers do not reach it",
                is_nd ? "neighbour solicitations" : "ARP requests", ip_text(target, &to), u->times,
                u->first_frame);
    watch_cut_paths(w, u->lid, u->target);
}

static void again(const struct watch *w, const struct question *q)
{
    struct unheard *u = entry_of(w, &q->key);
    int64_t ms = watch_ms(w);
    if (u->times && (ms < u->ms || ms - u->ms > ROUND_MS || u->lid != q->answered_to ||
                     u->target != q->answered_from))
        *u = (struct unheard){.key = q->key};
    if (!u->times++)
        u->first_frame = q->answered_frame;
    u->lid = q->answered_to;
    u->target = q->answered_from;
    u->ms = ms;
    watch_alert(w, ALERT_UNHEARD);
    if (u->times >= UNHEARD_TIMES)
        not_heard(w, u);
}

void watch_asked_again(const struct watch *w, const struct question *q)
{
    int64_t ms = watch_ms(w) - q->answered_ms;
    if (q->asked == 1 && q->answered_frame && ms >= NOT_BEFORE_MS && ms <= AGAIN_MS &&
        ib_is_multicast(&w->p->ib) && q->answered_to == w->p->ib.slid)
        again(w, q);
}

void watch_heard_answer(const struct watch *w)
{
    const struct ib_packet *ib = &w->p->ib;
    unsigned left = 0;
    for (unsigned i = 0; i < UNHEARD_MAX; i++) {
        struct unheard *u = &w->questions->unheard[i];
        if (ib->has_lrh && u->key.subnet == w->p->at.interface && u->lid == ib->slid &&
            u->target == ib->dlid)
            u->times = 0;
        left += u->times > 0;
    }
    if (!left)
        watch_no_alert(w, ALERT_UNHEARD);
}
