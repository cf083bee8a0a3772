/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places in the tree: below what Wireshark's own dissectors added. */
#ifndef IPOIB_PLUGIN_PLACE_H
#define IPOIB_PLUGIN_PLACE_H

#include <epan/proto.h>

/*
 * The subtree of the protocol that was added to tree last; tree itself if there is none. proto: the
 * protocol's identifier. tree may be NULL.
 */
proto_tree *place_below(proto_tree *tree, int proto);

/*
 * Moves the items after the CRCs of an InfiniBand packet before them, because the CRCs are the
 * last bytes of the packet. ib: the subtree of Wireshark's InfiniBand dissector.
 */
void place_before_crcs(proto_tree *ib);

/* Wireshark's fields of the CRCs. */
int place_icrc(void);
int place_vcrc(void);

void place_handoff(void);

#endif
