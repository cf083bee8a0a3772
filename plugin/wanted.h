/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the tree and the Info column, to which a dissector adds, are used. */
#ifndef IPOIB_PLUGIN_WANTED_H
#define IPOIB_PLUGIN_WANTED_H

#include <epan/packet.h>

#include "plugin/compat.h"

/*
 * Is the tree shown, or does a filter, a column, a tap or -T fields use a field of IPoIB or of
 * expert information? If not, the caller needs to add only the item of each protocol.
 */
bool tree_is_wanted(const proto_tree *tree);
/* Are expert items shown, or read by a listener of expert information? */
bool experts_are_wanted(const proto_tree *tree);
/* Is the Info column written? */
bool info_is_wanted(const packet_info *pinfo);

void wanted_handoff(void);

#endif
