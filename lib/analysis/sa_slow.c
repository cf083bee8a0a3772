/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of the SA that come late. Hosts wait for a limited time: Linux gives up a path after 1 s,
 * and a join after 3 s. Meanwhile it repeats the request with the same transaction ID. The answer
 * may be that to the last request, if the one before was lost. So the time counts from the last
 * request; but from the first one if two retries had no answer either, and no packet of the SA is
 * missing in the capture, as its PSNs show. A question that was reported as unanswered is not any
 * more: its event is taken back, and the answer is late.
 */
#include "analysis/sa_requests.h"

enum { SLOW_MS = 1000, RETRIED = 3 };

APART static void slow(const struct watch *w, const struct mad_transaction *t, int64_t ms)
{
    uint16_t sa = port_to_lid(w->p->src), requester = port_to_lid(w->p->dst);
    struct sender who = sender_of_lid(w, sa);
    const struct event_key key = event_key(w, EVENT_SA_SLOW, NULL, NULL, sa);
    watch_event(
        w, &key, &who, transaction_first_frame(t),
        "the SA answers the request of LID %u after %.1f s: hosts may have given up by then",
        requester, (double)ms / 1000);
}

/* Was no answer to the earlier requests sent? */
static bool is_first_answer(const struct watch *w, const struct mad_transaction *t)
{
    if (t->requests < RETRIED)
        return false;
    const struct sa_sequence *s = subnet_sa_sequence(w->f->subnet, w->p->at.interface);
    return s && sa_sequence_is_shown(s) &&
           sa_sequence_is_whole_since(s, transaction_first_frame(t));
}

static int64_t time_until_answer(const struct watch *w, const struct mad_transaction *t)
{
    int64_t from = is_first_answer(w, t) ? t->first_ns : t->request.ns;
    return clocks_at_least(&w->f->order.clocks, t->request.captured_on, from);
}

/* The question, if it was reported as unanswered. */
static struct question *reported(const struct watch *w, const struct mad_transaction *t)
{
    const struct question_key key = transaction_key(t);
    struct question *q = t->followed ? question_find(w, &key) : NULL;
    return q && q->reported ? q : NULL;
}

void sa_answered_late(const struct watch *w, const struct mad_transaction *t)
{
    int64_t ns = time_until_answer(w, t);
    if (ns >= SLOW_MS * (int64_t)NS_PER_MS && port_to_lid(w->p->src)) {
        const struct question *q = reported(w, t);
        if (q && transaction_first_frame(t) <= q->first_frame)
            sa_answered_after_all(w, q);
        if (!q || transaction_first_frame(t) <= q->first_frame)
            slow(w, t, ns / NS_PER_MS);
    }
}
