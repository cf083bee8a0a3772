/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises ICMP, IGMP and ICMPv6: maps addresses and clears the rest. */
#ifndef CAPTURE_SHARE_ICMP_H
#define CAPTURE_SHARE_ICMP_H

#include "capture/share/share_span.h"
#include "wire/view.h"

/* S: the message after the IP header. */
void share_icmp(struct share_map *m, struct span s);
void share_igmp(struct share_map *m, struct span s);
/*
 * v: the message before any change; v.p is NULL if it was not decoded. of_interface: as
 * share_datagram().
 */
void share_icmpv6(struct share_map *m, struct span s, struct view v, bool of_interface);

#endif
