/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MADs of communication management, and connections. */
#ifndef IPOIB_PLUGIN_CM_H
#define IPOIB_PLUGIN_CM_H

#include "plugin/frame.h"

/* Stores what is known of the CM message before it is added to the tree. Sets cm_is_ipoib. */
void cm_observe(struct frame *f, packet_info *pinfo);
void cm_dissect(struct frame *f, packet_info *pinfo, proto_tree *tree);

/* Appends the service of the connection to the Info column if it is not IPoIB. */
void connection_name_foreign(packet_info *pinfo, const struct connection *c);
/* Adds ipoib.connection with its service and the frame of its REQ. */
void connection_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb,
                    const struct connection *c);

void cm_register(void);

#endif
