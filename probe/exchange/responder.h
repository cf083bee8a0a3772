/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Responds to requests for the probe's own IP address. */
#ifndef IPOIB_PROBE_RESPONDER_H
#define IPOIB_PROBE_RESPONDER_H

#include "probe/link/transport.h"
#include "probe/run/target.h"

/* Responds if the packet requests the probe's address. */
void responder_take(struct target *t, const struct ud_from *from);
enum { ANNOUNCED_AFTER = 1 }; /* after this try, counted from 0 */
/*
 * Announces the probe's address to the peer by a request with it as the sender. The peer may have
 * cached it from an earlier run, with a queue pair that no longer exists. Used only if the peer
 * does not reply, because a request from the peer itself shows more.
 */
void responder_announce(struct target *t);

#endif
