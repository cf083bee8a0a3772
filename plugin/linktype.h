/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Link types that carry IPoIB without InfiniBand headers. */
#ifndef IPOIB_PLUGIN_LINKTYPE_H
#define IPOIB_PLUGIN_LINKTYPE_H

#include <epan/packet.h>

#include "wire/link_frame.h"

/*
 * Is the link type one that carries IPoIB without InfiniBand headers? tvb: the whole frame. Sets
 * *c.
 */
bool linktype_locate_ipoib(tvbuff_t *tvb, packet_info *pinfo, struct link_frame *c);

#endif
