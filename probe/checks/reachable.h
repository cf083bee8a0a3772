/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stage for a peer that responds to multicast, but not to unicast requests. */
#ifndef IPOIB_PROBE_REACHABLE_H
#define IPOIB_PROBE_REACHABLE_H

#include "probe/run/target.h"

/*
 * Reports the stage peer.reachable unless the peer now responds to unicast. No rule requires it,
 * but no traffic reaches such a peer. Sets t->peer->deaf and cut_off.
 */
void reachable_report(struct target *t);

#endif
