/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IPoIB connections over their life: REQs of both sides that cross (RFC 4755 §3.3), and the end
 * that is due when the interface goes down (§3.4).
 */
#ifndef IPOIB_MODEL_LIFECYCLE_H
#define IPOIB_MODEL_LIFECYCLE_H

#include "model/connection.h"

/* Called with a connection of which it is decided now whether it ended with its interface. */
typedef void lifecycle_observer(void *user, struct connection *c);

/* The REQ of c, in frame number frame, at ns since 1970. */
void connection_requested(struct connection *c, uint32_t frame, int64_t ns);

/* The port's interface on this partition left the broadcast group, or joined it again. */
void connections_interface_down(struct endport *port, uint16_t pkey, int64_t ns,
                                lifecycle_observer *observer, void *user);
void connections_interface_up(struct endport *port, uint16_t pkey, lifecycle_observer *observer,
                              void *user);

/* Data on the connection, whose end has been due for so long that it would have been seen. */
void connection_data(struct connection *c, int64_t ns, lifecycle_observer *observer, void *user);

#endif
