/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises ICMP, IGMP and ICMPv6. Checksums are share_sum.h's. */
#ifndef CAPTURE_SHARE_ICMP_H
#define CAPTURE_SHARE_ICMP_H

#include "capture/share/share_part.h"
#include "wire/view.h"

/* P: the message after the IP header. */
void share_icmp(struct part p);
void share_igmp(struct part p);
/* v: the message; v.p is NULL if it was not decoded. of_interface: as share_datagram(). */
void share_icmpv6(struct part p, struct view v, bool of_interface);

#endif
