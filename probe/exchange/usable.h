/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a host accepts an IP datagram: one that it drops does not count as a response. */
#ifndef IPOIB_PROBE_USABLE_H
#define IPOIB_PROBE_USABLE_H

#include "wire/view.h"

/*
 * Why a host drops the ICMP or ICMPv6 datagram, as text that follows "it has". NULL: it accepts the
 * datagram, or this cannot be decided (a fragment, another protocol, truncated).
 */
const char *usable_drop_reason(struct view ip);

#endif
