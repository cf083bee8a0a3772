/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a shared capture keeps of management datagrams. */
#ifndef CAPTURE_SHARE_MAD_H
#define CAPTURE_SHARE_MAD_H

#include "capture/share_ip.h"

/*
 * The MAD in S, of which MAD says what it is. GIDs and GUIDs are mapped, keys that protect (M_Key,
 * SM_Key), names, private data but IPoIB's, and attributes that are not known become zeros.
 */
void share_mad(struct share_map *m, struct span s, const struct mad_payload *mad, bool ipoib);

#endif
