/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of a port's interfaces the port's one query to the SA is about. */
#ifndef IPOIB_PROBE_NODE_TURN_H
#define IPOIB_PROBE_NODE_TURN_H

#include "probe/node/facts.h"
#include "probe/node/state.h"

/*
 * The index in LINKS (struct node_link), or -1 if there is nothing to ask about on the port of link
 * FIRST: an interface that was at odds with the SA in the last run, until it is not; else one
 * without carrier; else each in turn.
 */
int node_turn(const GArray *links, guint first, const struct node_state *s);

#endif
