/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A peer that answers the group and no question by unicast. */
#ifndef IPOIB_PROBE_REACHABLE_H
#define IPOIB_PROBE_REACHABLE_H

#include "probe/run/target.h"

/*
 * Reports the stage peer.reachable, unless the peer answers by unicast now. No rule says it, but
 * nothing gets there.
 */
void tell_unreachable(struct target *t);

#endif
