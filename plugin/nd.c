/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Neighbour Discovery with 20-byte addresses (RFC 4391 §9.3). The built-in icmpv6 dissector runs
 * first and shows the address of an option as 22 bytes. This file adds the parts of the address.
 */
#include "plugin/nd.h"
#include "plugin/frame.h"
#include "plugin/lladdr.h"
#include "plugin/transaction.h"
#include "plugin/place.h"
#include "plugin/protocol.h"
#include "plugin/wanted.h"

#include <epan/exceptions.h>
#include <epan/ipproto.h>
#include <wiretap/wtap.h>

#include "wire/lladdr.h"
#include "wire/nd.h"

static int proto_entry_nd = -1, proto_icmpv6 = -1;
static int hf_ipoib_nd_padding = -1;
static int ett_ipoib_nd = -1;

static dissector_handle_t builtin_icmpv6;

static bool lladdr_there(struct view v, const struct nd_option *o)
{
    return nd_is_ipoib_lladdr(o) && view_has(v, o->off + ND_OPT_LLADDR, LLADDR_SIZE) == WIRE_OK;
}

/* A solicited NA answers the NS for the same target (RFC 4861 §7.2.4). */
static void match_nd(packet_info *pinfo, struct view v)
{
    struct transaction_key k = transaction_key_on(TRANSACTION_ND, frame_link(pinfo));
    if ((v.p[0] != ND_NS && v.p[0] != ND_NA) || view_has(v, ND_TARGET, 16) != WIRE_OK)
        return;
    transaction_key_add(&k, v.p + ND_TARGET, 16);
    if (v.p[0] == ND_NS)
        transaction_request(pinfo, &k, 0);
    else if (v.p[ND_NA_FLAGS] & ND_NA_SOLICITED)
        transaction_response(pinfo, &k);
}

/* Captured at an IPoIB interface, possibly that of a driver that moves the address. */
static bool is_of_interface(packet_info *pinfo)
{
    int encap = pinfo->rec->rec_header.packet_header.pkt_encap;
    return !frame_current(pinfo) &&
           (encap == WTAP_ENCAP_IP_OVER_IB_PCAP || encap == WTAP_ENCAP_IP_OVER_IB_SNOOP);
}

/* false: the bytes may be either of two forms. */
static bool option_form(packet_info *pinfo, struct view v, const struct nd_option *o,
                        enum nd_form *form)
{
    *form = ND_FORM_PACKET;
    if (!is_of_interface(pinfo))
        return true;
    *form = nd_form(v.p + o->off);
    return *form != ND_FORM_EITHER;
}

static void add_nd_option(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb,
                          const struct nd_option *o, enum nd_form form)
{
    bool moved = form == ND_FORM_BEFORE_DRIVER;
    int off = (int)o->off;
    proto_tree_add_item(tree, hf_ipoib_nd_padding, tvb,
                        off + (moved ? ND_OPT_PAD_BEFORE_DRIVER : ND_OPT_PAD), 2, ENC_BIG_ENDIAN);
    lladdr_add(tree, pinfo, tvb, off + (moved ? ND_OPT_LLADDR_BEFORE_DRIVER : ND_OPT_LLADDR),
               o->type == ND_OPT_SOURCE_LLADDR ? "Source" : "Target");
}

/* True if the packet certainly came over IPoIB. Cooked captures do not show that here. */
static bool surely_ipoib(packet_info *pinfo)
{
    return frame_current(pinfo) || is_of_interface(pinfo);
}

/*
 * True if the packet may have come over IPoIB: it is inside InfiniBand, or the link type has no
 * Ethernet addresses. A message that an ICMP error quotes is none of this frame.
 */
static bool maybe_ipoib(packet_info *pinfo)
{
    if (pinfo->flags.in_error_pkt)
        return false;
    return frame_current(pinfo) || pinfo->dl_src.type != AT_ETHER;
}

static void dissect_infiniband(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree)
{
    struct view v = tvb_view(tvb);
    struct nd_iter it;
    struct nd_option o;
    enum nd_form form;
    bool ours = surely_ipoib(pinfo);
    proto_tree *nd = tree_is_wanted(tree) ? place_below(tree, proto_icmpv6) : NULL, *sub = NULL;

    if (!nd_options(v, &it))
        return;
    while (nd_next(&it, &o)) {
        if (!lladdr_there(v, &o))
            continue;
        ours = true;
        if (!option_form(pinfo, v, &o, &form))
            continue;
        if (!sub && nd)
            sub = proto_tree_add_subtree(nd, tvb, (int)o.off, (int)o.size, ett_ipoib_nd, NULL,
                                         "IPoIB link-layer addresses");
        add_nd_option(sub, pinfo, tvb, &o, form);
    }
    /* An NA without option may answer an NS that is known to be IPoIB's: no other NS is stored. */
    if (!ours && v.p[0] != ND_NA)
        return;
    if (!pinfo->fd->visited)
        match_nd(pinfo, v);
    if (nd && (v.p[0] == ND_NS || v.p[0] == ND_NA))
        transaction_show(pinfo, nd, tvb);
}

/*
 * The built-in dissector shows the first six bytes of an option of 8 bytes (Ethernet's) as an
 * address. Over IPoIB they are none (RFC 4391 section 9.3).
 */
static void info_short_option(packet_info *pinfo, struct view v)
{
    struct nd_iter it;
    struct nd_option o;
    if (!info_is_wanted(pinfo) || !surely_ipoib(pinfo) || !nd_options(v, &it))
        return;
    while (nd_next(&it, &o)) {
        if ((o.type != ND_OPT_SOURCE_LLADDR && o.type != ND_OPT_TARGET_LLADDR) || o.size != 8)
            continue;
        col_append_str(pinfo->cinfo, COL_INFO, " [no IPoIB address]");
        return;
    }
}

static int dissect_icmpv6(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    bool ours = tvb_captured_length(tvb) > 0 && tvb_get_uint8(tvb, 0) >= ND_RS &&
                tvb_get_uint8(tvb, 0) <= ND_REDIRECT && maybe_ipoib(pinfo) && plugin_enabled();
    if (!ours)
        return call_dissector_only(builtin_icmpv6, tvb, pinfo, tree, data);
    volatile int n = 0;
    TRY
    {
        n = call_dissector_only(builtin_icmpv6, tvb, pinfo, tree, data);
    }
    FINALLY /* the built-in dissector throws at a truncated message */
    {
        dissect_infiniband(tvb, pinfo, tree);
        info_short_option(pinfo, tvb_view(tvb));
    }
    ENDTRY;
    return n;
}

void nd_register(void)
{
    static hf_register_info hf[] = {
        {&hf_ipoib_nd_padding,
         {"Padding", "ipoib.nd.padding", FT_UINT16, BASE_HEX, NULL, 0, "RFC 4391 section 9.3: zero",
          HFILL}},
    };
    static int *ett[] = {&ett_ipoib_nd};
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    proto_icmpv6 = proto_get_id_by_filter_name("icmpv6");
    proto_entry_nd = proto_register_protocol_in_name_only("ICMPv6 with IPoIB addresses",
                                                          "ICMPv6 entry", "icmpv6.ipoib_entry",
                                                          proto_icmpv6, FT_PROTOCOL);
}

void nd_handoff(void)
{
    builtin_icmpv6 = dissector_get_uint_handle(find_dissector_table("ip.proto"), IP_PROTO_ICMPV6);
    if (builtin_icmpv6)
        dissector_add_uint("ip.proto", IP_PROTO_ICMPV6,
                           create_dissector_handle_with_name(dissect_icmpv6, proto_entry_nd,
                                                             "ipoib.entry.icmpv6"));
}
