/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises InfiniBand packets, without their payload. */
#ifndef CAPTURE_SHARE_PACKET_H
#define CAPTURE_SHARE_PACKET_H

#include "capture/share/share_layout.h"
#include "wire/ib.h"

/* The fields of a GRH (IBA 8.3) */
extern const struct field grh_layout[];

/* Anonymises the headers of the packet P that were captured completely. */
void share_headers(struct part p, const struct ib_packet *ib);

/*
 * Sets the CRCs of the anonymised packet P, which is LEN bytes on the wire; after all other
 * changes. A wrong CRC stays wrong, an absent one (0) stays absent. CRCs that are not checked
 * become 0: that of RoCE covers the outer addresses, the rest of a truncated one the old payload.
 */
void share_crcs(struct part p, uint32_t len, const struct ib_packet *ib);

#endif
