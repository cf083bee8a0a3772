/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols that Wireshark looks up when it loads the plugin, and the order of registration.
 *
 * Modules of the plugin, in the order in which a packet passes through them:
 *   entry.c        registration: receives the frames of every link type
 *   frame.c        decodes the frame, without Wireshark's tree
 *   observe.c      first pass: the model observes the packet, then the checks run
 *   payload.c encap.c           encapsulation header and datagram
 *   message.c reassembly.c      connected mode: reassembly of messages into datagrams
 *   sa.c sa_record.c cm.c       MADs: subnet administration, communication management
 *   arp.c nd.c lladdr.c mgid.c  addresses in any message
 *   conformance.c               runs the checker of rules/
 *   finding_store.c findings.c  keeps its findings, and shows them as expert items
 *   events.c                    runs the analysis, and shows its events as expert items
 *   tap_*.c        statistics for the Statistics menu and -z (tap.h)
 *   place.c        places in the tree of Wireshark's own dissectors
 *   wanted.c       whether tree items and columns are used
 *   transaction.c  links requests and responses
 *   state.c        state of the capture file
 *   store.c        data that the first pass stores with a frame
 *   arena.c        memory for the bytes of complete messages
 *   competing.c    disables competing heuristic dissectors
 *   linktype.c     frames without InfiniBand headers
 *   pcapng.c       the note that a pcapng file of link type 247 must be converted
 *   protocol.c     the protocol "ipoib"
 */
#include "plugin/arp.h"
#include "plugin/cm.h"
#include "plugin/conformance.h"
#include "plugin/encap.h"
#include "plugin/entry.h"
#include "plugin/events.h"
#include "plugin/frame.h"
#include "plugin/lladdr.h"
#include "plugin/message.h"
#include "plugin/mgid.h"
#include "plugin/nd.h"
#include "plugin/transaction.h"
#include "plugin/pcapng.h"
#include "plugin/payload.h"
#include "plugin/place.h"
#include "plugin/protocol.h"
#include "plugin/reassembly.h"
#include "plugin/competing.h"
#include "plugin/sa.h"
#include "plugin/state.h"
#include "plugin/store.h"
#include "plugin/tap.h"
#include "plugin/wanted.h"

#include <epan/proto.h>
#if WS_AT_LEAST(4, 4)
#include <wsutil/plugins.h>
#endif

#define EXPORT __attribute__((visibility("default")))

EXPORT extern const char plugin_version[];
EXPORT extern const int plugin_want_major;
EXPORT extern const int plugin_want_minor;
EXPORT void plugin_register(void);

const char plugin_version[] = PLUGIN_VERSION;
const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
const int plugin_want_minor = WIRESHARK_VERSION_MINOR;

#if WS_AT_LEAST(4, 4)
EXPORT uint32_t plugin_describe(void);
uint32_t plugin_describe(void)
{
    return WS_PLUGIN_DESC_DISSECTOR;
}
#endif

static void register_all(void)
{
    /* Wireshark registers the built-in protocols before those of plugins. */
    proto_ipoib = proto_get_id_by_filter_name("ipoib");
    if (proto_ipoib <= 0)
        proto_ipoib = proto_register_protocol("IP over InfiniBand", "IPoIB", "ipoib");
    frame_register();
    competing_register();
    entry_register();
    pcapng_register();
    encap_register();
    message_register(); /* creates the preferences module */
    reassembly_register();
    state_register();
    store_register();
    lladdr_register();
    mgid_register();
    transaction_register();
    sa_register();
    sa_record_register();
    cm_register();
    arp_register();
    nd_register();
    conformance_register();
    events_register();
    tap_tree_register();
    tap_conformance_register();
    tap_events_register();
    tap_peers_register();
    tap_groups_register();
    tap_connections_register();
    tap_conversations_register();
}

static void handoff_all(void)
{
    wanted_handoff();
    place_handoff();
    entry_handoff();
    encap_handoff();
    payload_handoff();
    arp_handoff();
    nd_handoff();
    conformance_handoff();
}

void plugin_register(void)
{
    static proto_plugin plugin = {.register_protoinfo = register_all,
                                  .register_handoff = handoff_all};
    proto_register_plugin(&plugin);
}
