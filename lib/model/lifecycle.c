/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/lifecycle.h"

#include "wire/nanoseconds.h"
#include "wire/pkey.h"

/* Number of a port's connections that are searched; a real port has few open ones. */
enum { DEPTH = 64 };
/*
 * Seconds from an interface's leaving the broadcast group to the end of its connections; each
 * disconnect takes a round trip.
 */
enum { TEARDOWN_SECONDS = 10 };
enum { TIMEOUT_UNIT_NS = 4096, MS_NS = 1000000 }; /* IBA 12.7.8 */

/* ---- REQs that cross */

/*
 * Minimum time that a REQ waits for its response: its Remote CM Response Timeout (IBA 12.6.5,
 * 12.9.8). Then the requester repeats it or gives up. Max CM Retries is not used, because it is not
 * known which retry was the last.
 */
static uint32_t response_ms(const struct connection *c)
{
    return (uint32_t)(((uint64_t)TIMEOUT_UNIT_NS << c->response_timeout) / MS_NS);
}

/* Was the REQ d unanswered when the requester of c sent its own REQ? */
static bool waits(const struct connection *d, const struct connection *c)
{
    bool answered = d->rep_frame || d->rej_frame || d->rtu_frame;
    bool unseen = c->endport[0]->gap_frame > d->req_frame;
    return !answered && !unseen && c->asked_ms - d->asked_ms <= response_ms(d);
}

/* Find a REQ from this connection's responder to its requester that waits for its response. */
static struct connection *find_crossing(const struct connection *c)
{
    struct connection *d = c->endport[1] ? c->endport[1]->connections : NULL;
    for (unsigned i = 0; d && i < DEPTH; i++, d = connection_older(d, c->endport[1])) {
        bool opposite = d->endport[0] == c->endport[1] && d->endport[1] == c->endport[0] &&
                        c->endport[0] != c->endport[1];
        if (d != c && opposite && same_partition(d->pkey, c->pkey) && waits(d, c))
            return d;
    }
    return NULL;
}

void connection_requested(struct connection *c, uint32_t frame, int64_t ns)
{
    c->asked_ms = (uint32_t)(ns / MS_NS);
    if (c->req_frame != frame)
        return; /* repeated REQ */
    struct connection *d = find_crossing(c);
    if (d)
        c->crossed = d->crossed = true;
}

/* ---- the end */

static void decide(struct connection *c, lifecycle_observer *observer, void *user)
{
    if (c->torn_down)
        return;
    c->torn_down = true;
    observer(user, c);
}

void connections_interface_down(struct endport *port, uint16_t pkey, int64_t ns,
                                lifecycle_observer *observer, void *user)
{
    uint32_t now = (uint32_t)(ns / NANOSECONDS);
    struct connection *c = port->connections;
    for (unsigned i = 0; c && i < DEPTH; i++, c = connection_older(c, port)) {
        if (!same_partition(c->pkey, pkey) || !c->rep_frame || c->torn_down)
            continue;
        c->left_seconds = now ? now : 1;
        if (!connection_is_open(c))
            decide(c, observer, user);
    }
}

void connections_interface_up(struct endport *port, uint16_t pkey, lifecycle_observer *observer,
                              void *user)
{
    struct connection *c = port->connections;
    for (unsigned i = 0; c && i < DEPTH; i++, c = connection_older(c, port))
        if (same_partition(c->pkey, pkey) && c->left_seconds)
            decide(c, observer, user);
}

void connection_data(struct connection *c, int64_t ns, lifecycle_observer *observer, void *user)
{
    uint32_t now = (uint32_t)(ns / NANOSECONDS);
    if (c->left_seconds && now - c->left_seconds > TEARDOWN_SECONDS && connection_is_open(c))
        decide(c, observer, user);
}
