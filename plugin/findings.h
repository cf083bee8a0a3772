/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings of a frame: stored with it in the first pass, shown as expert information whenever the
 * frame is dissected.
 */
#ifndef IPOIB_PLUGIN_FINDINGS_H
#define IPOIB_PLUGIN_FINDINGS_H

#include <epan/packet.h>

#include "rules/check.h"

void findings_register(void);

/* In the first pass: the checks found this in the packet at hand. Texts are copied. */
void findings_add(const struct finding *f);

/*
 * Those added since the last call belong to this frame. Their offsets count from base, in bytes
 * from the start of the frame.
 */
void findings_attach(packet_info *pinfo, uint32_t base);

/* At the end of a file. */
void findings_forget(void);

/* Calls each for every finding of the frame, in the order in which they were added. */
void findings_foreach(packet_info *pinfo, void (*each)(void *user, const struct finding *f),
                      void *user);

/*
 * The findings of the frame as a tree with expert items. Where nobody sees the tree, only the
 * file's highest severity is raised.
 */
void findings_show(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree);

#endif
