/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings about the owner of the target's IP address. If another port sends under the peer's IP
 * address, the finding is about the address and not a failure of the peer. A peer that moves is
 * found again; a proxy is reported.
 */
#ifndef IPOIB_PROBE_OWNER_H
#define IPOIB_PROBE_OWNER_H

#include "probe/run/target.h"

/*
 * Call after the search for the peer. During the search, findings are held until the sender of
 * their packets can be compared with the peer; this drops those about other senders' packets.
 * found: the peer was found.
 */
void owner_sort(struct target *t, bool found);

/*
 * Call after a check: were the held findings made on one peer? If the peer may have changed,
 * requests it at its known location and by multicast. Results across a change are inconclusive.
 */
void owner_confirm(struct target *t, gint64 begin);

/*
 * Requests some addresses that should be unused: a station that responds for all of them is a
 * proxy.
 */
void owner_request_unused(struct target *t);

/* After the checks: reports a second owner and a proxy. */
void owner_report(struct target *t);

/* Searches for a peer that does not reply. True if it moved, which is then reported. */
bool owner_moved(struct target *t);

#endif
