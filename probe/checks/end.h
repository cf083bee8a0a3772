/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a peer's test: the request of its beginning once more, and what the requests add up
 * to. Each stage here is added only if it withholds the verdict (report.h).
 */
#ifndef IPOIB_PROBE_END_H
#define IPOIB_PROBE_END_H

#include "probe/run/target.h"

/*
 * Adds the stages peer.end, peer.echo, peer.broadcast, peer.connections and peer.loss, and counts
 * the requests.
 */
void end_report(struct target *t);
/* False: this port is no longer active, and further checks would only wait. */
bool end_port_is_active(struct target *t);
/* Above 20 % of the packets so far were lost, three at least. Waits for replies that may be late.
 */
bool end_loses_most(struct target *t);
/*
 * Why nothing arrives any more, from this port's own side: its state, its partition, the SA, its
 * group. NULL: no such reason. Free with g_free().
 */
char *end_own_reason(struct target *t);

/*
 * Adds the stage peer.loss if many of the counted packets were lost: above 20 %; watched: above 5
 * %, and it fails. Three are needed, or when watched two
 * of few packets.
 */
void end_report_loss(struct target *t, bool watched);

#endif
