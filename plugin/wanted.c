/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks whether what a dissector adds is used. Wireshark does not store a field that is neither
 * shown nor used by a filter. But without this check, the dissector computes its value, its text
 * and its column first.
 */
#include "plugin/wanted.h"
#include "plugin/protocol.h"

#include <epan/tap.h>

static const header_field_info *ours, *expert;

/* Wireshark marks a protocol as referenced if one of its fields is. */
static bool is_referenced(const header_field_info *protocol)
{
    return protocol && protocol->ref_type != HF_REF_TYPE_NONE;
}

bool tree_is_wanted(const proto_tree *tree)
{
    return tree && (PTREE_DATA(tree)->visible || is_referenced(ours) || is_referenced(expert));
}

/*
 * Wireshark registers the tap "expert" when it opens a file, after the plugins. So the tap is
 * looked up here, and only until it is found, because the search compares the names of all taps.
 */
bool experts_are_wanted(const proto_tree *tree)
{
    static int tap;
    if (tap <= 0)
        tap = find_tap_id("expert");
    return tree_is_wanted(tree) || have_tap_listener(tap);
}

bool info_is_wanted(const packet_info *pinfo)
{
    return col_get_writable(pinfo->cinfo, COL_INFO);
}

static const header_field_info *protocol_of(int id)
{
    return id > 0 ? proto_registrar_get_nth((guint)id) : NULL;
}

void wanted_handoff(void)
{
    ours = protocol_of(proto_ipoib);
    expert = protocol_of(proto_get_id_by_filter_name("_ws.expert"));
}
