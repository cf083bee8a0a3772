/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The encapsulation header and the datagram after it. */
#ifndef IPOIB_PLUGIN_PAYLOAD_H
#define IPOIB_PLUGIN_PAYLOAD_H

#include "plugin/frame.h"

/*
 * Dissects an IPoIB payload that the built-in dissector did not hand over. frame.protocols lists
 * its layer.
 */
void payload_call(struct frame *f, packet_info *pinfo, proto_tree *tree);
void payload_handoff(void);

#endif
