/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lifecycle of IPoIB connections: REQs of both sides that cross (RFC 4755 section 3.3), and the
 * disconnect that is required when the interface goes down (section 3.4).
 */
#ifndef IPOIB_MODEL_LIFECYCLE_H
#define IPOIB_MODEL_LIFECYCLE_H

#include "model/connection.h"

/* Called with a connection when it is decided whether it ended with its interface. */
typedef void lifecycle_observer(void *user, struct connection *c);

/* The REQ of c was seen in this frame; ns: ns since 1970. */
void connection_requested(struct connection *c, uint32_t frame, int64_t ns);

/*
 * The port's interface on this partition left the broadcast group (down), or joined it again (up).
 */
void connections_interface_down(struct endport *port, uint16_t pkey, int64_t ns,
                                lifecycle_observer *observer, void *user);
void connections_interface_up(struct endport *port, uint16_t pkey, lifecycle_observer *observer,
                              void *user);

/*
 * Data was seen on the connection. If its interface is down and the disconnect is overdue, the
 * observer is called.
 */
void connection_data(struct connection *c, int64_t ns, lifecycle_observer *observer, void *user);

#endif
