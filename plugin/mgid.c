/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MGIDs that contain an IP group (RFC 4391 §4), in any message. */
#include "plugin/mgid.h"
#include "plugin/protocol.h"
#include "plugin/wanted.h"

#include <epan/to_str.h>

#include "wire/mgid.h"

static int hf_ipoib_mgid = -1, hf_ipoib_mgid_flags = -1, hf_ipoib_mgid_transient = -1,
           hf_ipoib_mgid_scope = -1, hf_ipoib_mgid_signature = -1, hf_ipoib_mgid_pkey = -1;
static int hf_ipoib_mgid_ipv4 = -1, hf_ipoib_mgid_ipv6 = -1;
static int ett_ipoib_mgid = -1;

static const value_string scope_names[] = {
    {0x0, "reserved"},
    {0x1, "interface-local"},
    {0x2, "link-local (IB subnet)"},
    {0x5, "site-local"},
    {0x8, "organization-local"},
    {0xe, "global"},
    {0xf, "reserved"},
    {0, NULL},
};
static const value_string signature_names[] = {
    {MGID_SIGNATURE_IPV4, "IPv4"},
    {MGID_SIGNATURE_IPV6, "IPv6"},
    {0, NULL},
};

const char *gid_text(packet_info *pinfo, const uint8_t *gid)
{
    address a;
    set_address(&a, AT_IPv6, GID_SIZE, gid);
    return address_to_str(pinfo->pool, &a);
}

static const char *group_text(packet_info *pinfo, const struct mgid *m)
{
    address a;
    if (m->signature == MGID_SIGNATURE_IPV4)
        set_address(&a, AT_IPv4, 4, m->ipv4);
    else
        set_address(&a, AT_IPv6, 16, m->ipv6);
    return address_to_str(pinfo->pool, &a);
}

const char *mgid_group_text(packet_info *pinfo, const uint8_t *gid)
{
    if (!mgid_is_ipoib(gid))
        return NULL;
    struct mgid m = mgid_read(gid);
    return group_text(pinfo, &m);
}

static void add_ip_group(proto_tree *tree, tvbuff_t *tvb, int offset, const struct mgid *m)
{
    if (m->signature == MGID_SIGNATURE_IPV4) {
        uint32_t ip;
        memcpy(&ip, m->ipv4, 4);
        proto_item_set_generated(
            proto_tree_add_ipv4(tree, hf_ipoib_mgid_ipv4, tvb, offset + MGID_GROUP_IPV4, 4, ip));
    } else {
        proto_item_set_generated(proto_tree_add_ipv6(tree, hf_ipoib_mgid_ipv6, tvb,
                                                     offset + MGID_GROUP, MGID_SIZE - MGID_GROUP,
                                                     (const ws_in6_addr *)m->ipv6));
    }
}

proto_item *mgid_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int offset)
{
    if (!tree_is_wanted(tree) || !tvb_bytes_exist(tvb, offset, MGID_SIZE))
        return NULL;
    const uint8_t *gid = tvb_get_ptr(tvb, offset, MGID_SIZE);
    if (!mgid_is_ipoib(gid))
        return NULL;
    struct mgid m = mgid_read(gid);
    proto_item *ti = proto_tree_add_item(tree, hf_ipoib_mgid, tvb, offset, MGID_SIZE, ENC_NA);
    proto_tree *sub = proto_item_add_subtree(ti, ett_ipoib_mgid);

    proto_item_append_text(ti, " (%s)", group_text(pinfo, &m));
    proto_tree_add_item(sub, hf_ipoib_mgid_flags, tvb, offset + MGID_FLAGS_SCOPE, 1,
                        ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf_ipoib_mgid_transient, tvb, offset + MGID_FLAGS_SCOPE, 1,
                        ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf_ipoib_mgid_scope, tvb, offset + MGID_FLAGS_SCOPE, 1,
                        ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf_ipoib_mgid_signature, tvb, offset + MGID_SIGNATURE, 2,
                        ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf_ipoib_mgid_pkey, tvb, offset + MGID_PKEY, 2, ENC_BIG_ENDIAN);
    add_ip_group(sub, tvb, offset, &m);
    return ti;
}

void mgid_register(void)
{
    static hf_register_info hf[] = {
        {&hf_ipoib_mgid,
         {"MGID", "ipoib.mgid", FT_IPv6, BASE_NONE, NULL, 0, "RFC 4391 section 4", HFILL}},
        {&hf_ipoib_mgid_flags,
         {"Flags", "ipoib.mgid.flags", FT_UINT8, BASE_HEX, NULL, 0xf0, NULL, HFILL}},
        {&hf_ipoib_mgid_transient,
         {"Transient (T)", "ipoib.mgid.transient", FT_BOOLEAN, 8, NULL, MGID_FLAG_TRANSIENT << 4,
          NULL, HFILL}},
        {&hf_ipoib_mgid_scope,
         {"Scope", "ipoib.mgid.scope", FT_UINT8, BASE_HEX, VALS(scope_names), 0x0f, NULL, HFILL}},
        {&hf_ipoib_mgid_signature,
         {"Signature", "ipoib.mgid.signature", FT_UINT16, BASE_HEX, VALS(signature_names), 0, NULL,
          HFILL}},
        {&hf_ipoib_mgid_pkey,
         {"P_Key", "ipoib.mgid.pkey", FT_UINT16, BASE_HEX, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_mgid_ipv4,
         {"IPv4 group", "ipoib.mgid.ipv4", FT_IPv4, BASE_NONE, NULL, 0,
          "255.255.255.255: the broadcast-GID", HFILL}},
        {&hf_ipoib_mgid_ipv6,
         {"IPv6 group", "ipoib.mgid.ipv6", FT_IPv6, BASE_NONE, NULL, 0,
          "with the MGID's scope: only the low 80 bits are carried", HFILL}},
    };
    static int *ett[] = {&ett_ipoib_mgid};
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}
