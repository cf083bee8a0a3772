/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a host takes an IP datagram: what it drops is no answer. */
#ifndef IPOIB_PROBE_USABLE_H
#define IPOIB_PROBE_USABLE_H

#include "wire/view.h"

/*
 * Why a host drops the ICMP or ICMPv6 datagram, in words that stand after "it has"; NULL: it takes
 * it, or nothing can be said (a fragment, another protocol, one that is cut short).
 */
const char *why_host_drops(struct view ip);

#endif
