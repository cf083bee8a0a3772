/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The encapsulation header and the datagram after it. */
#ifndef IPOIB_PLUGIN_PAYLOAD_H
#define IPOIB_PLUGIN_PAYLOAD_H

#include "plugin/frame.h"

/* The payload after the InfiniBand headers, without pad bytes and CRCs. */
tvbuff_t *payload_tvb(const struct frame *f);
/*
 * Dissects an IPoIB payload that the built-in dissector did not hand over. frame.protocols lists
 * its layer.
 */
void payload_call(struct frame *f, packet_info *pinfo, proto_tree *tree);
/*
 * Dissects the encapsulation header at the start of tvb and the datagram after it. f: the
 * InfiniBand frame, or NULL.
 */
void encap_dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const struct frame *f);

void payload_register(void);
void payload_handoff(void);

#endif
