/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises IPoIB datagrams: keeps headers and maps their addresses. */
#ifndef CAPTURE_SHARE_IP_H
#define CAPTURE_SHARE_IP_H

#include "capture/share/share_span.h"
#include "wire/payload.h"

/*
 * Anonymises the datagram S that follows the encapsulation header; D is its decoded form. Payload
 * is cleared. Checksums are recomputed; a wrong one stays wrong. of_interface: the frame was
 * captured at an IPoIB interface, where ND options may have another form (wire/nd.h).
 */
void share_datagram(struct share_map *m, struct span s, const struct datagram *d,
                    bool of_interface);

/* Anonymises a DHCP message. */
void share_dhcp(struct share_map *m, struct span s);

#endif
