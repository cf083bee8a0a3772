/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Modules of the plugin, in the order in which a packet passes through them:
 *   entry.c        registration: receives the frames of every link type
 *   frame.c        decodes and classifies the frame, without Wireshark's tree
 *   payload.c      encapsulation header and datagram
 *   message.c      connected mode: reassembly of messages into datagrams
 *   sa.c sa_record.c cm.c       MADs: subnet administration, communication management
 *   arp.c nd.c lladdr.c mgid.c  addresses in any message
 *   conformance.c  runs the checker of rules/ and shows its findings as expert items
 *   tap_*.c        statistics for the Statistics menu and -z (tap.h)
 *   wanted.c       whether tree items and columns are used
 *   pair.c         request and response
 *   state.c        state of the capture file
 *   rivals.c       disables competing heuristic dissectors
 */
#ifndef IPOIB_PLUGIN_PLUGIN_H
#define IPOIB_PLUGIN_PLUGIN_H

#include "plugin/compat.h"

#include <epan/packet.h>

#include "wire/names.h"

/*
 * The built-in protocol "ipoib" (Wireshark's own dissector of DLT 242). The plugin adds its fields
 * under this filter name.
 */
extern int proto_ipoib;

/* VALS() for a table of wire/, which has the layout of value_string. */
#define VALS_OF(table) (table)
_Static_assert(sizeof(struct name) == sizeof(value_string),
               "struct name is not laid out as value_string");
_Static_assert(offsetof(struct name, name) == offsetof(value_string, strptr), "as above");

/*
 * Is the protocol "ipoib" enabled? If not, the plugin does nothing, with two exceptions: link type
 * 247 is still dissected as InfiniBand, and the built-in heuristic stays disabled (payload.c).
 */
bool plugin_enabled(void);

#endif
