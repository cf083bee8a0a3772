/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The encapsulation header and the datagram after it. */
#ifndef IPOIB_PLUGIN_ENCAP_H
#define IPOIB_PLUGIN_ENCAP_H

#include "plugin/frame.h"

/*
 * Dissects the encapsulation header at the start of tvb and the datagram after it. f: the
 * InfiniBand frame, or NULL.
 */
void encap_dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const struct frame *f);
/* Adds ipoib.mode. */
void encap_add_mode(proto_tree *tree, tvbuff_t *tvb, const struct frame *f);
/* Adds ipoib.message if the frame is part of a message. */
void encap_add_message_number(proto_tree *tree, tvbuff_t *tvb, const struct frame *f);

void encap_register(void);
void encap_handoff(void);

#endif
