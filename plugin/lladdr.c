/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The 20-byte link-layer address (RFC 4391 §9.1.1), its flags (RFC 4755 §3.1), and the IP address
 * that was seen with it.
 */
#include "plugin/lladdr.h"
#include "plugin/mgid.h"
#include "plugin/protocol.h"
#include "plugin/state.h"
#include "plugin/store.h"
#include "plugin/wanted.h"

#include <epan/addr_resolv.h>

#include "wire/lladdr.h"
#include "wire/mgid.h"

static int hf_ipoib_lladdr = -1, hf_ipoib_lladdr_flags = -1, hf_ipoib_lladdr_flags_rc = -1,
           hf_ipoib_lladdr_flags_uc = -1, hf_ipoib_lladdr_flags_reserved = -1,
           hf_ipoib_lladdr_flags_tss = -1, hf_ipoib_lladdr_qpn = -1, hf_ipoib_lladdr_gid = -1;
static int hf_ipoib_lladdr_ipv4 = -1, hf_ipoib_lladdr_ipv6 = -1;
static int ett_ipoib_lladdr = -1, ett_ipoib_flags = -1;

static const true_false_string supported = {"Supported", "Not supported"};

/* The IP addresses that were seen with a link-layer address up to this frame; NULL: none. */
struct seen_with {
    const struct ip *ipv4, *ipv6;
};

/* Stored for each link-layer address, by its offset in its data source. */
static uint32_t seen_key(tvbuff_t *tvb, int offset)
{
    return (uint32_t)(tvb_raw_offset(tvb) + offset + 1) << 8 | DATA_SEEN_WITH;
}

static const struct ip *ip_of_lladdr(packet_info *pinfo, const uint8_t *lladdr, uint8_t length)
{
    const struct neighbour *n = neighbours_of_lladdr(state_facts()->neighbours, lladdr, length,
                                                     pinfo->num);
    return n ? &n->ip : NULL;
}

/* First pass only, even if no tree is shown: a later pass shows what was known at this frame. */
static void store_seen(packet_info *pinfo, const uint8_t *lladdr, uint32_t key)
{
    struct seen_with seen = {ip_of_lladdr(pinfo, lladdr, 4), ip_of_lladdr(pinfo, lladdr, 16)};
    if (seen.ipv4 || seen.ipv6)
        store_share(pinfo->num, key, &seen, sizeof seen, alignof(struct seen_with));
}

/* Adds the IP address, and its host name if Wireshark resolves names. */
static void add_ip(proto_tree *tree, proto_item *parent, packet_info *pinfo, tvbuff_t *tvb,
                   const struct ip *seen)
{
    if (!seen)
        return;
    address a;
    proto_item *ti;
    set_address(&a, seen->length == 4 ? AT_IPv4 : AT_IPv6, seen->length, seen->bytes);
    if (seen->length == 4) {
        uint32_t ip;
        memcpy(&ip, seen->bytes, 4);
        ti = proto_tree_add_ipv4(tree, hf_ipoib_lladdr_ipv4, tvb, 0, 0, ip);
    } else {
        ti = proto_tree_add_ipv6(tree, hf_ipoib_lladdr_ipv6, tvb, 0, 0,
                                 (const ws_in6_addr *)seen->bytes);
    }
    proto_item_set_generated(ti);
    proto_item_append_text(parent, ", %s", address_with_resolution_to_str(pinfo->pool, &a));
}

static void add_flags(proto_tree *tree, tvbuff_t *tvb, int offset)
{
    uint8_t flags = tvb_get_uint8(tvb, offset);
    proto_item *ti = proto_tree_add_item(tree, hf_ipoib_lladdr_flags, tvb, offset, 1,
                                         ENC_BIG_ENDIAN);
    proto_tree *sub = proto_item_add_subtree(ti, ett_ipoib_flags);
    proto_tree_add_item(sub, hf_ipoib_lladdr_flags_rc, tvb, offset, 1, ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf_ipoib_lladdr_flags_uc, tvb, offset, 1, ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf_ipoib_lladdr_flags_reserved, tvb, offset, 1, ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf_ipoib_lladdr_flags_tss, tvb, offset, 1, ENC_BIG_ENDIAN);
    if (flags & LLADDR_FLAG_RC)
        proto_item_append_text(ti, ", RC");
    if (flags & LLADDR_FLAG_UC)
        proto_item_append_text(ti, ", UC");
    if (flags & LLADDR_FLAG_TSS)
        proto_item_append_text(ti, ", TSS");
}

void lladdr_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int offset, const char *label)
{
    const uint8_t *p = tvb_get_ptr(tvb, offset, LLADDR_SIZE);
    struct lladdr a = lladdr_read(p);
    bool is_group = mgid_is_ipoib(a.gid), is_port = !is_group && !lladdr_is_zero(p);
    uint32_t key = seen_key(tvb, offset);
    if (is_port && !pinfo->fd->visited)
        store_seen(pinfo, p, key);
    if (!tree_is_wanted(tree))
        return;
    proto_item *ti = proto_tree_add_item(tree, hf_ipoib_lladdr, tvb, offset, LLADDR_SIZE, ENC_NA);
    proto_tree *sub = proto_item_add_subtree(ti, ett_ipoib_lladdr);

    proto_item_prepend_text(ti, "%s ", label);
    if (lladdr_is_zero(p))
        proto_item_append_text(ti, ", unknown");
    add_flags(sub, tvb, offset + LLADDR_FLAGS);
    proto_tree_add_item(sub, hf_ipoib_lladdr_qpn, tvb, offset + LLADDR_QPN, 3, ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf_ipoib_lladdr_gid, tvb, offset + LLADDR_GID, GID_SIZE, ENC_NA);
    if (is_group)
        mgid_add(sub, pinfo, tvb, offset + LLADDR_GID);
    const struct seen_with *seen = is_port ? store_find(pinfo->num, key) : NULL;
    if (seen) {
        add_ip(sub, ti, pinfo, tvb, seen->ipv4);
        add_ip(sub, ti, pinfo, tvb, seen->ipv6);
    }
}

void lladdr_register(void)
{
    static hf_register_info hf[] = {
        {&hf_ipoib_lladdr,
         {"Link-layer address", "ipoib.lladdr", FT_BYTES, SEP_COLON, NULL, 0,
          "RFC 4391 section 9.1.1", HFILL}},
        {&hf_ipoib_lladdr_flags,
         {"Flags", "ipoib.lladdr.flags", FT_UINT8, BASE_HEX, NULL, 0, "RFC 4755 section 3.1",
          HFILL}},
        {&hf_ipoib_lladdr_flags_rc,
         {"Reliable connected mode (RC)", "ipoib.lladdr.flags.rc", FT_BOOLEAN, 8, TFS(&supported),
          LLADDR_FLAG_RC, NULL, HFILL}},
        {&hf_ipoib_lladdr_flags_uc,
         {"Unreliable connected mode (UC)", "ipoib.lladdr.flags.uc", FT_BOOLEAN, 8, TFS(&supported),
          LLADDR_FLAG_UC, NULL, HFILL}},
        {&hf_ipoib_lladdr_flags_reserved,
         {"Reserved", "ipoib.lladdr.flags.reserved", FT_UINT8, BASE_HEX, NULL, LLADDR_FLAG_RESERVED,
          NULL, HFILL}},
        {&hf_ipoib_lladdr_flags_tss,
         {"TSS of MLNX_OFED, a reserved bit", "ipoib.lladdr.flags.tss", FT_BOOLEAN, 8,
          TFS(&tfs_set_notset), LLADDR_FLAG_TSS, "MLNX_OFED sets it in every address", HFILL}},
        {&hf_ipoib_lladdr_qpn,
         {"QPN", "ipoib.lladdr.qpn", FT_UINT24, BASE_HEX, NULL, 0,
          "queue pair for unicast datagrams", HFILL}},
        {&hf_ipoib_lladdr_gid,
         {"GID", "ipoib.lladdr.gid", FT_IPv6, BASE_NONE, NULL, 0, "one of the port's GIDs", HFILL}},
        {&hf_ipoib_lladdr_ipv4,
         {"Seen with IP", "ipoib.lladdr.ipv4", FT_IPv4, BASE_NONE, NULL, 0, "up to this frame",
          HFILL}},
        {&hf_ipoib_lladdr_ipv6,
         {"Seen with IPv6", "ipoib.lladdr.ipv6", FT_IPv6, BASE_NONE, NULL, 0, "up to this frame",
          HFILL}},
    };
    static int *ett[] = {&ett_ipoib_lladdr, &ett_ipoib_flags};
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}
