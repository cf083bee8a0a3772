/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings about who has the target's IP address. What another port sends in the peer's name is a
 * finding about the address and no failure of the peer; a peer that changes is found again; a proxy
 * is named.
 */
#ifndef IPOIB_PROBE_OWNER_H
#define IPOIB_PROBE_OWNER_H

#include "probe/run/target.h"

/*
 * Before the checks: findings are held until it is known whose packets they rest on; afterwards
 * those about packets of others are dropped. came: has the peer been found?
 */
void owner_sort(struct target *t, bool found);

/*
 * After a check: were the findings that it holds seen of one peer? If it may have changed, it is
 * asked for at its place, and by multicast; what was compared across a change is inconclusive.
 */
void owner_confirm(struct target *t, gint64 begin);

/* Asks for some addresses that nobody should have: who answers for them all is a proxy. */
void owner_ask_nobody(struct target *t);

/* After the checks: a second owner, and a proxy. */
void owner_tell(struct target *t);

#endif
