/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which port is at the end of a directed route: its NodeInfo says so (IBA 14.2.5.3). A cable may
 * have been moved since, so it is not known from the request of another NodeInfo until its answer,
 * nor if requests of the subnet manager are missing since, as its PSNs show, or a response to none.
 *
 * And the responses of a port in their order: one with a lower PSN that follows within a second was
 * overtaken, and one with the PSN and the transaction ID of another is a copy of it.
 */
#include "analysis/smps.h"
#include "analysis/twins.h"

enum { ROUTES = 1 << 10, REQUESTS_MAX = 8, LATE_PSNS = 64 };
#define LATE_NS INT64_C(1000000000)

/* A cache: a route that is overwritten by another counts as not seen before. */
struct route_seen {
    uint64_t id; /* 0: unused */
    uint8_t
        hops[GID_SIZE]; /* of a short route: their number, and their ports; else [0] is larger */
    uint64_t guid;
    uint32_t frame; /* of the NodeInfo; 0: none */
    bool asked;     /* again since then */
    bool down;      /* a port there was reported as not Active any more */
    uint8_t next;   /* in the ring of requests */
    bool has_requests;
    uint64_t requests[REQUESTS_MAX]; /* their transaction IDs */
};

struct routes_seen {
    struct route_seen all[ROUTES];
    struct route_seen *now; /* that of the current SMP; NULL: no directed route */
    enum { NOT_FOUND, KNOWN, UNKNOWN } is_known; /* route_is_known() of the same packet */
    uint32_t agent;                              /* whose PSNs were looked up last */
    uint16_t subnet;                             /* the same */
    const struct psn_sender *sent;               /* by it; NULL: nothing until then */
};

NEW_HISTORY(routes_seen, routes_seen_new)

static uint32_t agent_of(const struct smp *s)
{
    return (uint32_t)(s->mad.tid >> 32);
}

APART static void begin_route(const struct watch *w, struct route_seen *r, uint64_t id)
{
    const struct smp *s = &w->p->mad.smp;
    *r = (struct route_seen){.id = id, .hops[0] = s->hop_count};
    if (s->hop_count < sizeof r->hops)
        memcpy(r->hops + 1, s->initial_path + 1, s->hop_count);
}

/* Mostly the model knows its number already. */
static struct route_seen *find_route(const struct watch *w)
{
    const struct smp *s = &w->p->mad.smp;
    uint64_t id = w->f->end_of_route.id;
    if (!s->directed || !s->initial_path)
        return NULL;
    if (!id)
        id = port_of_route(w->p->at.interface, agent_of(s), s->initial_path + 1, s->hop_count).id;
    struct route_seen *r = &w->routes->all[id % ROUTES];
    if (r->id != id)
        begin_route(w, r, id);
    return r;
}

void watch_route(const struct watch *w)
{
    w->routes->now = find_route(w);
    w->routes->is_known = NOT_FOUND;
}

bool watch_route_again(const struct watch *w)
{
    uint64_t id = w->f->end_of_route.id;
    struct route_seen *r = &w->routes->all[id % ROUTES];
    if (!id || r->id != id || !w->p->mad.smp.directed || !w->p->mad.smp.initial_path)
        return false;
    w->routes->now = r;
    w->routes->is_known = NOT_FOUND;
    return true;
}

void watch_request_on_route(const struct watch *w)
{
    const struct smp *s = &w->p->mad.smp;
    struct route_seen *r = w->routes->now;
    if (!r)
        return;
    r->requests[r->next++ % REQUESTS_MAX] = s->mad.tid;
    r->has_requests = true;
    r->asked |= s->mad.attribute == SMP_NODE_INFO && s->mad.method == SMP_GET;
    w->routes->is_known = NOT_FOUND;
}

void watch_node_at_route(const struct watch *w)
{
    const struct smp *s = &w->p->mad.smp;
    struct node_info n;
    struct route_seen *r = w->routes->now;
    if (!r || !smp_says(s) || smp_node_info(s, &n) != WIRE_OK)
        return;
    w->routes->is_known = NOT_FOUND;
    r->guid = n.port_guid;
    r->frame = w->p->at.frame;
    r->asked = false;
    twins_note_port(w, n.port_guid);
    watch_port_guid(w, &n, route_hops(w));
}

/* A request is no response. */
static bool is_requested(const struct route_seen *r, const struct mad *mad)
{
    if (!(mad->method & MAD_RESPONSE))
        return true;
    for (unsigned i = 0; i < REQUESTS_MAX; i++)
        if (r->requests[i] == mad->tid)
            return true;
    return !r->has_requests;
}

/* What the subnet manager of the packet has sent; NULL: nothing. The model keeps its entry. */
static const struct psn_sender *sent_by_manager(const struct watch *w)
{
    struct routes_seen *all = w->routes;
    uint32_t agent = agent_of(&w->p->mad.smp);
    uint16_t subnet = w->p->at.interface;
    if (!all->sent || all->agent != agent || all->subnet != subnet) {
        all->sent = psn_gaps_sender(w->f->psn_gaps, port_of_route(subnet, agent, NULL, 0), PSN_SMI);
        all->agent = agent;
        all->subnet = subnet;
    }
    return all->sent;
}

static bool find_whether_known(const struct watch *w, const struct route_seen *r)
{
    if (!r || !r->frame)
        return !r || !r->asked;
    if (r->asked || !is_requested(r, &w->p->mad.mad))
        return false;
    const struct psn_sender *sent = sent_by_manager(w);
    return !sent || sent->gap_frame <= r->frame;
}

bool route_is_known(const struct watch *w, uint64_t *guid)
{
    const struct route_seen *r = w->routes->now;
    struct routes_seen *all = w->routes;
    *guid = r ? r->guid : 0;
    if (all->is_known == NOT_FOUND)
        all->is_known = find_whether_known(w, r) ? KNOWN : UNKNOWN;
    return all->is_known == KNOWN;
}

void route_is_down(const struct watch *w)
{
    struct route_seen *r = w->routes->now;
    if (r)
        r->down = true;
}

bool route_was_down(const struct watch *w)
{
    struct route_seen *r = w->routes->now;
    bool was_down = r && r->down;
    if (r)
        r->down = false;
    return was_down;
}

const uint8_t *route_hops(const struct watch *w)
{
    const struct route_seen *r = w->routes->now;
    return r && r->hops[0] < sizeof r->hops ? r->hops : NULL;
}

uint64_t route_number(const struct watch *w)
{
    const struct route_seen *r = w->routes->now;
    return r ? r->id : 0;
}

/* SMIs that do not count their PSNs send the same one again and again. */
static bool is_copy(const struct smp_order *o, const struct smp_seen *now)
{
    for (unsigned i = 0; i < SMP_ORDER; i++)
        if (o->recent[i].psn == now->psn && o->recent[i].tid == now->tid && o->recent[i].known)
            return true;
    return false;
}

bool smp_is_old(const struct watch *w, struct smp_order *o)
{
    const struct smp_seen now = {w->p->mad.mad.tid, w->p->at.ns, w->p->ib.psn, true};
    const struct smp_seen *last = &o->recent[o->last];
    int32_t by = psn_distance(last->psn, now.psn);
    bool is_late = by < 0 && by > -LATE_PSNS &&
                   (int64_t)((uint64_t)now.ns - (uint64_t)last->ns) <= LATE_NS;
    if (last->known && by <= 0 && (is_late || is_copy(o, &now)))
        return true;
    o->last = (uint8_t)((o->last + 1) % SMP_ORDER);
    o->recent[o->last] = now;
    return false;
}
