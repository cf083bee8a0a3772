/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises management datagrams (MADs). */
#ifndef CAPTURE_SHARE_MAD_H
#define CAPTURE_SHARE_MAD_H

#include "capture/share/share_ip.h"
#include "model/subnet.h"

/*
 * Anonymises the MAD in S; MAD is its decoded form. Maps GIDs, GUIDs and names. Clears M_Key and
 * SM_Key, unknown attributes, and private data of CM messages; IPOIB: keeps the IPoIB private data.
 * SPLIT: as share_sa().
 */
void share_mad(struct share_map *m, struct span s, const struct mad_payload *mad, bool ipoib,
               const struct split_record *split);

#endif
