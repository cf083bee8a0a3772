/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings of a frame. The first pass stores them with the frame; every dissection of the frame
 * shows them as expert information.
 */
#ifndef IPOIB_PLUGIN_FINDINGS_H
#define IPOIB_PLUGIN_FINDINGS_H

#include <epan/packet.h>

#include "rules/check.h"

void findings_register(void);

/*
 * First pass only: adds a finding of this frame. Its offset is relative to base, which is in bytes
 * from the start of the frame. The texts are copied.
 */
void findings_add(uint32_t frame, uint32_t base, const struct finding *f);

/* Discards all findings at the end of a file. */
void findings_forget(void);

/* Calls each() for every finding of the frame, in the order in which they were added. */
void findings_foreach(packet_info *pinfo, void (*each)(void *user, const struct finding *f),
                      void *user);

/*
 * Shows the findings of the frame as a tree with expert items. If the tree is not shown, it only
 * raises the file's highest severity.
 */
void findings_show(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree);

#endif
