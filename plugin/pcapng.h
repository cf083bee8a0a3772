/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The note about pcapng files of LINKTYPE_INFINIBAND that only Wireshark's own reader has opened,
 * as an unknown encapsulation: no program of Wireshark can write their packets.
 */
#ifndef IPOIB_PLUGIN_PCAPNG_H
#define IPOIB_PLUGIN_PCAPNG_H

#include <epan/packet.h>

/* Adds the note to the first such frame of the file. Call it for each of them. */
void pcapng_note(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree);

void pcapng_register(void);

#endif
