/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/sa_requests.h"

/*
 * Table of requests that wait for a response; a real fabric has few at a time. An overwritten
 * request counts as not seen.
 */
enum { REQUESTS = 1024 };

struct sa_requests {
    struct sa_request slots[REQUESTS];
};

struct sa_requests *sa_requests_new(void)
{
    return g_new0(struct sa_requests, 1);
}

static struct sa_request *slot(struct sa_requests *all, struct port requester, uint64_t tid)
{
    return &all->slots[port_transaction_place(&requester, tid) % REQUESTS];
}

static bool is_request(const struct sa_request *q, const struct sa *sa,
                       const struct port *requester, uint8_t method)
{
    return q->method == method && q->tid == sa->mad.tid && port_same(q->requester, *requester) &&
           q->attribute == sa->mad.attribute;
}

struct sa_request *sa_requests_add(const struct delivery *d, const struct sa *sa)
{
    struct sa_request *q = slot(d->s->requests, *d->src, sa->mad.tid);
    bool repeated = is_request(q, sa, d->src, sa->mad.method);
    uint8_t sent = repeated ? q->sent : 0, responses = repeated ? q->responses : 0;
    *q = (struct sa_request){.requester = *d->src,
                             .tid = sa->mad.tid,
                             .mask = sa->component_mask,
                             .frame = d->frame,
                             .attribute = sa->mad.attribute,
                             .method = sa->mad.method,
                             .sent = (uint8_t)MIN(255, sent + 1),
                             .responses = responses};
    return q;
}

const struct sa_request *sa_requests_responded(const struct delivery *d, const struct sa *sa,
                                               uint8_t method)
{
    struct sa_request *q = slot(d->s->requests, *d->dst, sa->mad.tid);
    if (!is_request(q, sa, d->dst, method))
        return NULL;
    q->responses = (uint8_t)MIN(255, q->responses + 1);
    return q;
}

/* Move requests to the slots of their requesters' new keys. */
void sa_requests_merge(struct sa_requests *all, uint16_t from, uint16_t to)
{
    for (unsigned i = 0; i < REQUESTS; i++) {
        struct sa_request q = all->slots[i];
        q.group = all->slots[i].group = group_now(q.group);
        q.endport = all->slots[i].endport = endport_now(q.endport);
        if (!q.method || port_interface(q.requester) != from)
            continue;
        memset(&all->slots[i], 0, sizeof q);
        q.requester = port_on(q.requester, to);
        *slot(all, q.requester, q.tid) = q;
    }
}
