/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Are large packets of this host's kernel answered? */
#ifndef IPOIB_PROBE_PING_SIZES_H
#define IPOIB_PROBE_PING_SIZES_H

#include "probe/run/target.h"

/*
 * Adds the stage peer.ping-sizes: an echo request of the kernel as large as the MTU of the
 * interface; without a reply, the largest one that has one. For a peer that answers small ones.
 */
void ping_sizes_report(struct target *t, const char *interface);

#endif
