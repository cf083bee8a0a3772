/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/lifecycle.h"

#include "wire/nanoseconds.h"
#include "wire/pkey.h"

/*
 * Seconds from an interface's leaving the broadcast group to the end of its connections; each
 * disconnect takes a round trip. An interface that joins again sooner may not have been torn down:
 * if the SM changes, Linux leaves and joins all its groups, and its connections stay.
 */
enum { TEARDOWN_SECONDS = 10 };
/* Seconds after the TimeWait in which a driver may still send what it had queued: Linux waits up
 * to 5. */
enum { QUEUE_SECONDS = 5 };
enum { TIMEOUT_UNIT_NS = 4096, MS_NS = 1000000 }; /* IBA 12.7.8 */

static void set_connection_time(struct connection *c, const struct clocks *clocks)
{
    c->interface = clocks->interface;
    c->ms = clocks->ns / MS_NS;
}

/* Without the cast, the product would have the 48 bits of the member. */
static int64_t time_of_connection(const struct connection *c)
{
    return (int64_t)c->ms * MS_NS;
}

/* ---- REQs that cross */

/*
 * Minimum time that a REQ waits for its response: its Remote CM Response Timeout (IBA 12.6.5,
 * 12.9.8). Then the requester repeats it or gives up. Max CM Retries is not used, because it is not
 * known which retry was the last.
 */
static int64_t response_ns(const struct connection *c)
{
    return (int64_t)TIMEOUT_UNIT_NS << c->response_timeout;
}

/*
 * Was every packet of the port's GSI captured since this frame? A port that was brought up since
 * may have started its PSNs from 0 again, so they do not show it. The port may share its LID with
 * another one, whose packets are followed instead.
 */
static bool is_followed_since(const struct endport *p, uint32_t frame)
{
    bool begins = p->gsi.first_frame && (p->gsi.first_frame <= frame || !p->gsi.begins_late);
    return begins && p->gsi.gap_frame <= frame && p->initialised_frame <= frame &&
           p->new_frame <= frame;
}

/*
 * Did the REQ come from a LID of the requester, as far as the capture shows? The packets of its GSI
 * are followed at these LIDs only, and its LMC may not have been captured.
 */
static bool is_from_lid_of_port(const struct connection *c)
{
    return endport_has_lid(c->endport[0], port_to_lid(c->requester.flow.id.port));
}

/* Was no response to the REQ d captured when its time had not yet passed? */
static bool connection_waits(const struct connection *d, const struct clocks *clocks)
{
    return !connection_has_response(d) &&
           clocks_at_most(clocks, d->interface, time_of_connection(d)) <= response_ns(d);
}

/*
 * Is d a connection from the responder of c to its requester, between the same two link-layer
 * addresses? A port may have several interfaces on a partition, each with a UD QPN of its own.
 */
static bool is_opposite(const struct connection *d, const struct connection *c)
{
    return d->endport[0] == c->endport[1] && d->endport[1] == c->endport[0] &&
           c->endport[0] != c->endport[1] && same_partition(d->pkey, c->pkey) &&
           (!c->requester.has_private || c->requester.ud_qpn == cm_service_qpn(d->service_id)) &&
           (!d->requester.has_private || d->requester.ud_qpn == cm_service_qpn(c->service_id));
}

/*
 * The REQ of c is repeated. If the REQ that it crossed was answered before, only this copy may have
 * arrived, and the responder has no outstanding REQ any more.
 */
static void note_repeated(struct connection *c)
{
    struct connection *d = c->crossing == CROSSED && c->endport[1] ? c->endport[1]->connections
                                                                   : NULL;
    for (unsigned i = 0; d && i < CONNECTIONS_SEARCHED; i++, d = connection_older(d, c->endport[1]))
        if (d->crossing && is_opposite(d, c) && connection_has_response(d))
            c->crossing = MAY_HAVE_ARRIVED_LATE;
}

/* Find the last REQ from this connection's responder to its requester that waits for its response.
 */
static struct connection *find_crossing(const struct connection *c, const struct clocks *clocks)
{
    const struct endport *responder = c->endport[1];
    struct connection *d = responder && responder->waiting ? responder->connections : NULL;
    for (unsigned i = 0; d && i < CONNECTIONS_SEARCHED;
         i++, d = connection_older(d, c->endport[1])) {
        if (is_opposite(d, c) && connection_waits(d, clocks))
            return d;
    }
    return NULL;
}

void connection_requested(struct connection *c, uint32_t frame, const struct clocks *clocks)
{
    if (!connection_has_left(c))
        set_connection_time(c, clocks);
    if (c->req_frame != frame) {
        note_repeated(c);
        return;
    }
    struct connection *d = find_crossing(c, clocks);
    if (!d)
        return;
    /*
     * the requester of c would have sent the response to the REQ d, and that of d a REJ if it had
     * given up
     */
    bool all_captured = is_followed_since(c->endport[0], d->req_frame) &&
                        is_followed_since(c->endport[1], d->req_frame) && is_from_lid_of_port(c) &&
                        is_from_lid_of_port(d);
    c->crossing = all_captured ? CROSSED : MAY_HAVE_CROSSED;
    if (d->crossing != RECEIVED_BEFORE)
        d->crossing = c->crossing;
}

const struct connection *connection_crossed(const struct connection *c)
{
    const struct connection *d = c->endport[1] ? c->endport[1]->connections : NULL;
    for (unsigned i = 0; d && i < CONNECTIONS_SEARCHED; i++, d = connection_older(d, c->endport[1]))
        if (d->crossing && is_opposite(d, c))
            return d;
    return NULL;
}

bool connection_may_be_repeated(const struct connection *c, const struct clocks *clocks)
{
    return clocks_at_most(clocks, c->interface, time_of_connection(c)) > response_ns(c) / 2;
}

void connection_req_received(struct connection *c)
{
    if (c->crossing == CROSSING_NONE)
        c->crossing = RECEIVED_BEFORE;
}

void connection_given_up(const struct connection *d)
{
    const struct endport *requester = d->endport[0];
    struct connection *c = requester ? requester->connections : NULL;
    for (unsigned i = 0; c && i < CONNECTIONS_SEARCHED; i++, c = connection_older(c, requester))
        if (c->crossing == CROSSED && is_opposite(d, c))
            c->crossing = MAY_HAVE_CROSSED;
}

/* ---- the end */

static void decide(struct connection *c, lifecycle_observer *observer, void *user)
{
    if (c->torn_down)
        return;
    c->torn_down = true;
    observer(user, c);
}

static struct connection_side *side_of(struct connection *c, const struct endport *port)
{
    return c->endport[0] == port ? &c->requester : &c->responder;
}

void connections_interface_down(const struct endport *port, uint16_t pkey,
                                const struct clocks *clocks, lifecycle_observer *observer,
                                void *user)
{
    struct connection *c = port->connections;
    for (unsigned i = 0; c && i < CONNECTIONS_SEARCHED; i++, c = connection_older(c, port)) {
        if (!same_partition(c->pkey, pkey) || !c->rep_frame || c->torn_down)
            continue;
        side_of(c, port)->left = true;
        set_connection_time(c, clocks);
        if (!connection_is_open(c))
            decide(c, observer, user);
    }
}

static bool teardown_is_over(const struct connection *c, const struct clocks *clocks)
{
    return clocks_at_least(clocks, c->interface, time_of_connection(c)) >
           TEARDOWN_SECONDS * NANOSECONDS;
}

void connections_interface_asks(const struct endport *port, uint16_t pkey,
                                const struct clocks *clocks)
{
    struct connection *c = port->connections;
    for (unsigned i = 0; c && i < CONNECTIONS_SEARCHED; i++, c = connection_older(c, port)) {
        struct connection_side *side = side_of(c, port);
        if (!same_partition(c->pkey, pkey) || !side->left || teardown_is_over(c, clocks))
            continue;
        side->left = false;
        side->returned = true;
    }
}

void connections_interface_replaced(const struct endport *port, uint16_t pkey, uint32_t qpn,
                                    const struct clocks *clocks)
{
    struct connection *c = port->connections;
    for (unsigned i = 0; c && i < CONNECTIONS_SEARCHED; i++, c = connection_older(c, port)) {
        struct connection_side *side = side_of(c, port);
        if (!same_partition(c->pkey, pkey) || !side->returned || !connection_is_open(c) ||
            !side->has_private || side->ud_qpn == qpn ||
            endport_announced(port, pkey, side->ud_qpn) != ANNOUNCED)
            continue;
        side->left = true;
        side->returned = false;
        set_connection_time(c, clocks);
    }
}

void connection_ended(struct connection *c, const struct clocks *clocks)
{
    set_connection_time(c, clocks);
}

/*
 * Time for which an end may still use its QP: it transmits packets again until the retries of RC
 * are over, and Linux sends new datagrams until the TimeWait of its QP is over, which lasts about
 * one ACK timeout (IBA 12.9). An ACK timeout may last four times its value (IBA 9.7.6.1.3). 0:
 * no limit.
 */
static int64_t timewait_ns(const struct connection *c)
{
    int64_t timeout = (int64_t)TIMEOUT_UNIT_NS << c->requester.ack_timeout;
    int64_t times = c->transport == CM_TRANSPORT_UC ? 1 : c->requester.retry_count + 1;
    return c->requester.ack_timeout ? 4 * timeout * times : 0;
}

/*
 * Neither a send queue nor the receiver holds back single messages for so long. A burst of them
 * counts once: the capture may have lost it, and then RC transmitted it again.
 */
enum { APART_NS = 100 * MS_NS };

/*
 * Time after the end in which an end may send new datagrams: none after its own DREQ, else the
 * TimeWait of its QP. 0: no limit.
 */
static int64_t sending_ns(const struct connection *c, bool requester)
{
    if (connection_is_ended_by(c, requester))
        return APART_NS;
    return c->requester.ack_timeout ? (4 * (int64_t)TIMEOUT_UNIT_NS << c->requester.ack_timeout) +
                                          QUEUE_SECONDS * NANOSECONDS
                                    : 0;
}

bool connection_is_quiet(const struct connection *c, const struct clocks *clocks)
{
    int64_t timewait = timewait_ns(c);
    return timewait && clocks_at_least(clocks, c->interface, time_of_connection(c)) >
                           timewait + QUEUE_SECONDS * NANOSECONDS;
}

void connection_sent_after_end(struct connection *c, bool requester, bool acknowledged,
                               const struct clocks *clocks)
{
    struct connection_side *side = requester ? &c->requester : &c->responder;
    int64_t wait = side->sent_after_end ? APART_NS : sending_ns(c, requester);
    if (!wait || connection_goes_on(c, requester) || connection_is_quiet(c, clocks) ||
        clocks_at_least(clocks, c->interface, time_of_connection(c)) < wait)
        return;
    side->sent_after_end = MIN(side->sent_after_end + (acknowledged ? 3 : 2), CONNECTION_GOES_ON);
    set_connection_time(c, clocks);
}

/*
 * Minimum time from the last data on a connection to the first on another one with its QPs: the
 * TimeWait, about one ACK timeout. Half of that, because an end may round its own value down. 0: no
 * limit.
 */
static int64_t reuse_ns(const struct connection *c)
{
    return c->requester.ack_timeout ? (int64_t)TIMEOUT_UNIT_NS << c->requester.ack_timeout >> 1 : 0;
}

bool connection_has_qps(const struct connection *c, const struct clocks *clocks)
{
    int64_t reuse = reuse_ns(c);
    return connection_is_open(c) && !connection_has_left(c) &&
           (!reuse || clocks_at_most(clocks, c->interface, time_of_connection(c)) < reuse);
}

/*
 * The first data after a pause may be that of a later connection with the same Starting PSN, which
 * an implementation may choose without chance.
 */
void connection_used(struct connection *c, const struct clocks *clocks)
{
    c->used |= connection_has_qps(c, clocks);
    if (c->used && connection_is_open(c) && !connection_has_left(c))
        set_connection_time(c, clocks);
}

bool connection_stayed(const struct connection *c, const struct clocks *clocks)
{
    return connection_has_left(c) && connection_is_open(c) && !c->torn_down &&
           teardown_is_over(c, clocks);
}

void connection_data(struct connection *c, const struct clocks *clocks,
                     lifecycle_observer *observer, void *user)
{
    if (connection_has_left(c) && connection_is_open(c) && teardown_is_over(c, clocks))
        decide(c, observer, user);
}

void connections_gsi_sent(const struct endport *port, const struct clocks *clocks,
                          lifecycle_observer *observer, void *user)
{
    struct connection *c = port->connections;
    for (unsigned i = 0; c && i < CONNECTIONS_SEARCHED; i++, c = connection_older(c, port))
        if (connection_has_left(c) && teardown_is_over(c, clocks))
            decide(c, observer, user);
}
