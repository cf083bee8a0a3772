/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of the SA that come late. Hosts wait for a limited time: Linux gives up a path after 1 s,
 * and a join after 3 s. Meanwhile it repeats the request with the same transaction ID. The answer
 * may be that to the last request, if the one before was lost. So the time counts from the last
 * request; but from the first one if two retries had no answer either, and no packet of the SA is
 * missing in the capture, as its PSNs show. An answer to a question that was reported as unanswered
 * is no further event.
 */
#include "analysis/question.h"

enum { SLOW_MS = 1000, WAITING = 1 << 10 };
enum { NS_PER_MS = 1000000, RETRIED = 3 };

/* A cache: a request that is overwritten by another counts as not seen. */
struct late_request {
    uint64_t requester, tid;   /* requester 0: unused */
    int64_t first_ns, last_ns; /* of the first and the last request */
    uint32_t first_frame, psn; /* psn: of the last one */
    uint16_t interface, requests;
};

struct sa_times {
    struct late_request all[WAITING];
};

struct sa_times *sa_times_new(void)
{
    return g_new0(struct sa_times, 1);
}

/* Not a hash that differs between runs: what is overwritten must not (model/hash.h). */
static struct late_request *waiting_of(const struct watch *w, struct port requester)
{
    uint64_t hash = (requester.id ^ w->p->mad.mad.tid) * UINT64_C(0x9e3779b97f4a7c15);
    return &w->sa_times->all[hash >> 48 & (WAITING - 1)];
}

static bool is_of(const struct late_request *a, const struct watch *w, struct port requester)
{
    return a->requester == requester.id && a->tid == w->p->mad.mad.tid;
}

static void requested(const struct watch *w)
{
    const struct packet *p = w->p;
    struct late_request *a = waiting_of(w, p->src);
    bool again = is_of(a, w, p->src) && a->interface == p->captured_on;
    if (again && a->psn == p->ib.psn && p->at.ns - a->last_ns < COPY_MS * (int64_t)NS_PER_MS)
        return; /* a copy */
    if (!again && p->copy_of)
        return;
    if (!again)
        *a = (struct late_request){.requester = p->src.id,
                                   .tid = p->mad.mad.tid,
                                   .first_ns = p->at.ns,
                                   .first_frame = p->at.frame,
                                   .interface = p->captured_on};
    a->last_ns = p->at.ns;
    a->psn = p->ib.psn;
    a->requests = (uint16_t)MIN(a->requests + 1, UINT16_MAX);
}

static void slow(const struct watch *w, const struct late_request *a, int64_t ms)
{
    uint16_t sa = port_to_lid(w->p->src), requester = port_to_lid(w->p->dst);
    struct sender who = sender_of_lid(w, sa);
    const struct event_key key = event_key(w, EVENT_SA_SLOW, NULL, NULL, sa);
    watch_event(
        w, &key, &who, a->first_frame,
        "the SA answers the request of LID %u after %.1f s: hosts may have given up by then",
        requester, (double)ms / 1000);
}

/* Was no answer to the earlier requests sent? */
static bool is_first_answer(const struct watch *w, const struct late_request *a)
{
    const struct sa_sequence *s = subnet_sa_sequence(w->f->subnet, w->p->at.interface);
    return a->requests >= RETRIED && s && sa_sequence_is_shown(s) &&
           sa_sequence_is_whole_since(s, a->first_frame);
}

static void responded(const struct watch *w)
{
    struct late_request *a = waiting_of(w, w->p->dst);
    if (!is_of(a, w, w->p->dst) || packet_is_corrupt(w->p))
        return;
    int64_t from = is_first_answer(w, a) ? a->first_ns : a->last_ns,
            ns = clocks_at_least(&w->f->order.clocks, a->interface, from);
    if (ns >= SLOW_MS * (int64_t)NS_PER_MS && port_to_lid(w->p->src) && !sa_answers_reported(w))
        slow(w, a, ns / NS_PER_MS);
    a->requester = 0;
}

void watch_sa_times(const struct watch *w)
{
    const struct mad *mad = &w->p->mad.mad;
    if (w->p->mad.sa.rmpp_type > RMPP_TYPE_DATA || !w->p->src.id || !w->p->dst.id)
        return;
    if (mad->method == SA_REPORT || mad->method == SA_REPORT_RESP)
        return;
    if (mad->method & MAD_RESPONSE)
        responded(w);
    else
        requested(w);
}
