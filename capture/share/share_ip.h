/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises IPoIB datagrams. */
#ifndef CAPTURE_SHARE_IP_H
#define CAPTURE_SHARE_IP_H

#include "capture/share/share_part.h"
#include "wire/payload.h"

/*
 * Anonymises the datagram P that follows the encapsulation header; D is its decoded form. A wrong
 * checksum stays wrong. of_interface: the frame was captured at an IPoIB interface, where ND
 * options may have another form (wire/nd.h).
 */
void share_datagram(struct part p, const struct datagram *d, bool of_interface);

/* Anonymises a DHCP message. */
void share_dhcp(struct part p);

#endif
