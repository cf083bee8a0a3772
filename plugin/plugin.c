/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbols that Wireshark looks up when it loads the plugin, and the order of registration. */
#include "plugin/plugin.h"
#include "plugin/arp.h"
#include "plugin/cm.h"
#include "plugin/conformance.h"
#include "plugin/entry.h"
#include "plugin/frame.h"
#include "plugin/lladdr.h"
#include "plugin/message.h"
#include "plugin/mgid.h"
#include "plugin/nd.h"
#include "plugin/pair.h"
#include "plugin/payload.h"
#include "plugin/rivals.h"
#include "plugin/sa.h"
#include "plugin/state.h"
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

int proto_ipoib = -1;

static void register_all(void)
{
    /* Wireshark registers the built-in protocols before those of plugins. */
    proto_ipoib = proto_get_id_by_filter_name("ipoib");
    if (proto_ipoib <= 0)
        proto_ipoib = proto_register_protocol("IP over InfiniBand", "IPoIB", "ipoib");
    frame_register();
    rivals_register();
    entry_register();
    payload_register();
    message_register(); /* creates the preferences module */
    state_register();
    lladdr_register();
    mgid_register();
    pair_register();
    sa_register();
    sa_record_register();
    cm_register();
    arp_register();
    nd_register();
    conformance_register();
    tap_tree_register();
    tap_conformance_register();
    tap_peers_register();
    tap_groups_register();
    tap_connections_register();
}

static void handoff_all(void)
{
    wanted_handoff();
    entry_handoff();
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
