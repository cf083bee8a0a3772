/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows the findings of a frame (finding_store.h) as expert information. */
#ifndef IPOIB_PLUGIN_FINDINGS_H
#define IPOIB_PLUGIN_FINDINGS_H

#include <epan/packet.h>

void findings_register(void);

/*
 * Shows the findings of the frame as a tree with expert items. If the tree is not shown, it only
 * raises the file's highest severity.
 */
void findings_show(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree);

/* The next file has no severity yet. */
void findings_forget(void);

#endif
