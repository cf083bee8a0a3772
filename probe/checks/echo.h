/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ICMP echo requests over UD. */
#ifndef IPOIB_PROBE_ECHO_H
#define IPOIB_PROBE_ECHO_H

#include "probe/run/target.h"

/*
 * Bytes of a small echo request and of the minimum link MTUs; header sizes, protocol numbers and
 * reply types.
 */
enum { ECHO_SMALL = 84, MTU_MIN4 = 68, MTU_MIN6 = 1280, IPV4_HEAD = 20, IPV6_HEAD = 40 };
enum { ICMP = 1, ICMPV6 = 58, REPLY4 = 0, REPLY6 = 129 };
/* Why a host drops a reply with other payload. */
extern const char echo_other_payload[];
/* True if the peer replies to an echo request of that size over UD. */
bool echo_over_ud(struct target *t, uint32_t length);

#endif
