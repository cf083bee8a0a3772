/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What passed this host's interface while its ping had no reply: where does it get lost? */
#ifndef IPOIB_PROBE_PING_SEEN_H
#define IPOIB_PROBE_PING_SEEN_H

#include "probe/link/hostseen.h"
#include "probe/run/target.h"

/*
 * Reports the cause as the stage, if what was seen decides it. resolved: the kernel has the peer's
 * link-layer address.
 */
bool ping_seen_report(struct target *t, const char *stage, const char *interface, bool resolved,
                      const struct host_seen *seen);

#endif
