/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MGIDs and GIDs. */
#ifndef IPOIB_PLUGIN_MGID_H
#define IPOIB_PLUGIN_MGID_H

#include <epan/packet.h>

/* Adds ipoib.mgid and its parts if the GID at offset is an IPoIB MGID. Returns the item or NULL. */
proto_item *mgid_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int offset);
/* The IP group of an IPoIB MGID ("255.255.255.255", "ff02::1"), else NULL. */
const char *mgid_group_text(packet_info *pinfo, const uint8_t *gid);
const char *gid_text(packet_info *pinfo, const uint8_t *gid);

void mgid_register(void);

#endif
