/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections that open and close again and again. A host keeps its connection while it has the
 * address of the peer (RFC 4755 section 3.4), so for minutes. If several connections of one host to
 * another end soon after their REQs, and each is followed soon by the next one, something ends
 * them.
 *
 * A host may close an idle connection, and the two directions have a connection each. So only
 * those count that one host opens to the other, and that live and pause for less than the shortest
 * time after which a Linux host forgets an idle neighbour (gc_stale_time: 60 s). An interface that
 * goes down ends its connections too.
 */
#include "analysis/ends.h"

enum { LOOPS = 1 << 8, LOOP_TIMES = 3 };
static const int64_t soon_ns = INT64_C(30) * 1000000000;

struct loop_time {
    int64_t ns;
    uint16_t captured_on;
};

/* A cache: hosts that are overwritten by others begin anew. */
struct loop {
    const struct endport *requester, *responder; /* NULL: unused */
    uint16_t pkey;
    struct loop_time first, opened, closed;
    uint32_t first_frame;
    uint32_t open;  /* number of the newest connection; 0: it is closed */
    uint32_t times; /* connections that were closed soon, one after the other */
    bool by_requester, by_responder;
};

struct loops {
    struct loop all[LOOPS];
};

NEW_HISTORY(loops, loops_new)

/* NULL: one of the hosts is not known. */
static struct loop *loop_of(const struct watch *w, const struct connection *c)
{
    const struct endport *from = c->endport[0], *to = c->endport[1];
    if (!from || !to)
        return NULL;
    struct loop *l = &w->loops->all[(from->lid * 31u + to->lid) % LOOPS];
    if (l->requester != from || l->responder != to || l->pkey != c->pkey) {
        l->requester = from; /* without an open connection and times, the rest means nothing */
        l->responder = to;
        l->pkey = c->pkey;
        l->open = l->times = 0;
    }
    return l;
}

static struct loop_time now(const struct watch *w)
{
    return (struct loop_time){w->p->at.ns, w->p->captured_on};
}

/* The longest possible time: the clocks of two capture points may differ. */
static int64_t ns_since(const struct watch *w, const struct loop_time *t)
{
    return clocks_at_most(&w->f->order.clocks, t->captured_on, t->ns);
}

/* A REQ that is sent again is of the same connection. */
void watch_connection_opens(const struct watch *w, const struct connection *c)
{
    struct loop *l = loop_of(w, c);
    if (!l || l->open == c->number)
        return;
    if (l->times && ns_since(w, &l->closed) > soon_ns)
        l->times = 0;
    l->open = c->number;
    l->opened = now(w);
}

static const char *closer_text(const struct loop *l)
{
    return l->by_requester && l->by_responder ? "now the one end, now the other closes them"
           : l->by_requester                  ? "it closes them itself"
                                              : "the other end closes them";
}

static void report(const struct watch *w, const struct loop *l, const struct connection *c)
{
    const struct event_key key = key_of_ends(w, EVENT_CONNECTION_LOOP, c, l->pkey);
    struct sender who = sender_of_side(w, c, true);
    char other[SENDER_TEXT_SIZE];
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, l->first_frame,
                "its connections to %s open and close again and again: %u times in %.1f s since "
                "frame %u; %s",
                end_text(w, c, false, other), l->times, (double)ns_since(w, &l->first) / 1e9,
                l->first_frame, closer_text(l));
}

static void closed_soon(const struct watch *w, struct loop *l, const struct connection *c,
                        bool by_requester)
{
    if (!l->times) {
        l->first = l->opened;
        l->first_frame = c->req_frame;
        l->by_requester = l->by_responder = false;
    }
    l->times++;
    l->by_requester |= by_requester;
    l->by_responder |= !by_requester;
    if (l->times >= LOOP_TIMES)
        report(w, l, c);
}

void watch_connection_closes(const struct watch *w, const struct connection *c, bool is_request)
{
    struct loop *l = loop_of(w, c);
    if (!l || l->open != c->number || packet_is_corrupt(w->p))
        return;
    bool by_requester = connection_is_by_requester(c, packet_cm(w->p), w->p->src) == is_request;
    l->open = 0;
    l->closed = now(w);
    if (!c->rep_frame || connection_has_left(c) || ns_since(w, &l->opened) > soon_ns)
        l->times = 0;
    else
        closed_soon(w, l, c, by_requester);
}
