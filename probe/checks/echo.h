/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Echo requests over UD. */
#ifndef IPOIB_PROBE_ECHO_H
#define IPOIB_PROBE_ECHO_H

#include "probe/run/target.h"

/*
 * Bytes of a small echo request, and of the least that a link must carry; headers, protocols and
 * replies.
 */
enum { ECHO_SMALL = 84, MTU_MIN4 = 68, MTU_MIN6 = 1280, IPV4_HEAD = 20, IPV6_HEAD = 40 };
enum { ICMP = 1, ICMPV6 = 58, REPLY4 = 0, REPLY6 = 129 };
/* Why a host drops a reply with other data. */
extern const char echo_other_payload[];
/* Is an echo request of that size, over UD, answered? */
bool echo_over_ud(struct target *t, uint32_t length);

#endif
