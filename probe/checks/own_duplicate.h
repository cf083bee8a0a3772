/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Another port that announces the address of this host (RFC 5227 §2.1.1, RFC 4862 §5.4): it takes
 * some of the replies of every peer.
 */
#ifndef IPOIB_PROBE_OWN_DUPLICATE_H
#define IPOIB_PROBE_OWN_DUPLICATE_H

#include "probe/run/target.h"

/* Requests the address that this host's kernel sends from, and does not wait. */
void own_duplicate_request(struct target *t);
/* Reports the other port, if it has replied meanwhile. */
void own_duplicate_report(struct target *t);

#endif
