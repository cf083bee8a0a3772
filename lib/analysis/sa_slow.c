/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of the SA that come late. Hosts wait for a limited time: Linux gives up a path after 1 s.
 * The time counts from the last request with the answer's transaction ID, as a retry may be the one
 * that is answered.
 */
#include "analysis/watch.h"

enum { SLOW_MS = 1000, WAITING = 1 << 10 };
enum { NS_PER_MS = 1000000 };

/* A cache: a request that is overwritten by another counts as not seen. */
struct waiting {
    uint64_t requester, tid; /* requester 0: unused */
    int64_t ns;              /* of the last request */
    uint32_t frame, psn;
    uint16_t interface;
};

struct sa_times {
    struct waiting all[WAITING];
};

struct sa_times *sa_times_new(void)
{
    return g_new0(struct sa_times, 1);
}

/* Not a hash that differs between runs: what is overwritten must not (model/hash.h). */
static struct waiting *waiting_of(const struct watch *w, struct port requester)
{
    uint64_t hash = (requester.id ^ w->p->mad.mad.tid) * UINT64_C(0x9e3779b97f4a7c15);
    return &w->sa_times->all[hash >> 48 & (WAITING - 1)];
}

static bool is_of(const struct waiting *a, const struct watch *w, struct port requester)
{
    return a->requester == requester.id && a->tid == w->p->mad.mad.tid;
}

static void requested(const struct watch *w)
{
    const struct packet *p = w->p;
    struct waiting *a = waiting_of(w, p->src);
    if (is_of(a, w, p->src) && a->psn == p->ib.psn)
        return; /* a copy */
    *a = (struct waiting){p->src.id,   p->mad.mad.tid, p->at.ns,
                          p->at.frame, p->ib.psn,      p->captured_on};
}

static void slow(const struct watch *w, uint32_t request, int64_t ms)
{
    uint16_t sa = port_to_lid(w->p->src), requester = port_to_lid(w->p->dst);
    struct sender who = sender_of_lid(w, sa);
    const struct event_key key = event_key(w, EVENT_SA_SLOW, NULL, NULL, sa);
    watch_event(
        w, &key, &who, request,
        "the SA answers the request of LID %u after %.1f s: hosts may have given up by then",
        requester, (double)ms / 1000);
}

static void responded(const struct watch *w)
{
    struct waiting *a = waiting_of(w, w->p->dst);
    if (!is_of(a, w, w->p->dst) || packet_is_corrupt(w->p))
        return;
    int64_t ns = clocks_at_least(&w->f->order.clocks, a->interface, a->ns);
    if (ns >= SLOW_MS * (int64_t)NS_PER_MS && port_to_lid(w->p->src))
        slow(w, a->frame, ns / NS_PER_MS);
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
