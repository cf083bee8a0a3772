/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a shared capture keeps of the datagrams of IPoIB: headers, with other addresses. */
#ifndef CAPTURE_SHARE_IP_H
#define CAPTURE_SHARE_IP_H

#include "capture/share_span.h"
#include "wire/payload.h"

/*
 * The datagram behind its encapsulation header, of which D says what it is. Payload becomes zeros,
 * checksums fit what is there then; those that were wrong stay wrong.
 */
void share_datagram(struct share_map *m, struct span s, const struct datagram *d);

/* A DHCP message. */
void share_dhcp(struct share_map *m, struct span s);

#endif
