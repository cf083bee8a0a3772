/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/protocol.h"

int proto_ipoib = -1;

struct view tvb_view(tvbuff_t *tvb)
{
    uint32_t cap = tvb_captured_length(tvb);
    return view_make(cap ? tvb_get_ptr(tvb, 0, (int)cap) : NULL, cap, tvb_reported_length(tvb));
}

bool plugin_enabled(void)
{
    static protocol_t *protocol;
    if (!protocol)
        protocol = find_protocol_by_id(proto_ipoib);
    return proto_is_protocol_enabled(protocol);
}

const char *disabled_protocol(void)
{
    protocol_t *infiniband = find_protocol_by_id(proto_get_id_by_filter_name("infiniband"));
    if (!plugin_enabled())
        return "the protocol IPoIB is disabled";
    return proto_is_protocol_enabled(infiniband) ? NULL : "the protocol InfiniBand is disabled";
}
