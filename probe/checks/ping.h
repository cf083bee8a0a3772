/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does this host's own ping reach the peer? */
#ifndef IPOIB_PROBE_PING_H
#define IPOIB_PROBE_PING_H

#include "probe/run/target.h"

/*
 * Adds the stage peer.ping: an echo request of the kernel, which has another address, route and
 * neighbour entry than the probe. Not if the user named the port or
 * partition: the kernel may use another one.
 */
void ping_report(struct target *t);

#endif
