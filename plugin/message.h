/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connected mode: messages that are reassembled from several packets. */
#ifndef IPOIB_PLUGIN_MESSAGE_H
#define IPOIB_PLUGIN_MESSAGE_H

#include "plugin/frame.h"

/* tvb: the payload of a PAYLOAD_FRAGMENT frame. */
void message_dissect(tvbuff_t *tvb, struct frame *f, packet_info *pinfo, proto_tree *tree);
void message_register(void);

#endif
