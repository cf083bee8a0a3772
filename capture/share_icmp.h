/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ICMP, IGMP and ICMPv6 of a shared capture: addresses are mapped, the rest is cleared. */
#ifndef CAPTURE_SHARE_ICMP_H
#define CAPTURE_SHARE_ICMP_H

#include "capture/share_span.h"
#include "wire/view.h"

void share_icmp(struct share_map *m, struct span s);
void share_igmp(struct share_map *m, struct span s);
/* v: the message as it was; p NULL: it was not decoded. */
void share_icmpv6(struct share_map *m, struct span s, struct view v);

#endif
