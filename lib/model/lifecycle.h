/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lifecycle of IPoIB connections: REQs of both sides that cross (RFC 4755 section 3.3), and the
 * disconnect that is required when the interface goes down (section 3.4).
 */
#ifndef IPOIB_MODEL_LIFECYCLE_H
#define IPOIB_MODEL_LIFECYCLE_H

#include "model/clocks.h"
#include "model/connection.h"

/* Called with a connection when it is decided whether it ended with its interface. */
typedef void lifecycle_observer(void *user, struct connection *c);

/* The REQ of c was seen in this frame, the last one that the clocks recorded. */
void connection_requested(struct connection *c, uint32_t frame, const struct clocks *clocks);

/* An MRA of the responder shows that it received the REQ of c. */
void connection_req_received(struct connection *c);

/*
 * The requester rejected d: it gave up. Its response to a REQ that crossed may have been sent after
 * that.
 */
void connection_given_up(const struct connection *d);

/* The port's interface on this partition left the broadcast group (down), or asked to join it. */
void connections_interface_down(const struct endport *port, uint16_t pkey,
                                const struct clocks *clocks, lifecycle_observer *observer,
                                void *user);
void connections_interface_asks(const struct endport *port, uint16_t pkey,
                                const struct clocks *clocks);

/*
 * The port's only interface on this partition announced a QPN for the first time: the one that left
 * and joined again with another QPN was torn down, and its connections should be too.
 */
void connections_interface_replaced(const struct endport *port, uint16_t pkey, uint32_t qpn,
                                    const struct clocks *clocks);

/*
 * The port's GSI sent a packet. It shows whether the connections of an interface that left some
 * time ago were ended, because each DREQ gets a response.
 */
void connections_gsi_sent(const struct endport *port, const struct clocks *clocks,
                          lifecycle_observer *observer, void *user);

/* A DREQ or DREP of c was seen. */
void connection_ended(struct connection *c, const struct clocks *clocks);

/* A packet was received on the connection: its QPs are in use. */
void connection_used(struct connection *c, const struct clocks *clocks);

/*
 * Data was seen on the connection. If its interface is down and the disconnect is overdue, the
 * observer is called.
 */
void connection_data(struct connection *c, const struct clocks *clocks,
                     lifecycle_observer *observer, void *user);

#endif
