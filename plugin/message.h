/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connected mode: messages that are reassembled from several packets. */
#ifndef IPOIB_PLUGIN_MESSAGE_H
#define IPOIB_PLUGIN_MESSAGE_H

#include "plugin/frame.h"

/* tvb: the payload of a PAYLOAD_PART frame. */
void message_dissect(tvbuff_t *tvb, struct frame *f, packet_info *pinfo, proto_tree *tree);
/* Adds ipoib.message if the frame is part of a message. */
void message_add_number(proto_tree *tree, tvbuff_t *tvb, const struct frame *f);

void message_register(void);

#endif
