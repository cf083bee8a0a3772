/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dissector registration: replaces the built-in handle for every link type that carries InfiniBand
 * or IPoIB. The built-in dissector still shows the InfiniBand headers. Before it runs, the plugin
 * decodes the frame, so that the payload's dissector knows P_Key, QPNs and connection. After it has
 * run, the plugin adds what it did not dissect.
 */
#include "plugin/entry.h"
#include "plugin/cm.h"
#include "plugin/encap.h"
#include "plugin/frame.h"
#include "plugin/lladdr.h"
#include "plugin/mgid.h"
#include "plugin/observe.h"
#include "plugin/payload.h"
#include "plugin/pcapng.h"
#include "plugin/place.h"
#include "plugin/protocol.h"
#include "plugin/competing.h"
#include "plugin/sa.h"

#include <epan/exceptions.h>
#include <wiretap/wtap.h>

#include "wire/link_frame.h"
#include "wire/mgid.h"

#define ERF_TABLE   "erf.types.type"
#define ENCAP_TABLE "wtap_encap"

static int proto_ipoib_entry = -1, proto_ipoib_entry_sll = -1;

static int hf_ipoib_pseudo = -1, hf_ipoib_daddr = -1, hf_ipoib_daddr_qpn = -1, hf_ipoib_dgid = -1,
           hf_ipoib_grh = -1, hf_ipoib_grh_ipver = -1, hf_ipoib_grh_tclass = -1;
static int hf_ipoib_grh_flowlabel = -1, hf_ipoib_grh_paylen = -1, hf_ipoib_grh_nxthdr = -1,
           hf_ipoib_grh_hoplmt = -1, hf_ipoib_grh_sgid = -1;
static int ett_ipoib_pseudo = -1, ett_ipoib_grh = -1;

static dissector_handle_t builtin_ib, builtin_roce, builtin_roce2, data_handle;
static dissector_handle_t our_roce2, builtin_sll, builtin_sll2;
static int builtin_proto;

/* Adds ICRC and VCRC where the built-in dissector fails to find them, after some MADs. */
static void add_lost_crcs(const struct frame *f, proto_tree *tree)
{
    int icrc = place_icrc(), vcrc = place_vcrc();
    if (!proto_field_is_referenced(tree, icrc) && !proto_field_is_referenced(tree, vcrc))
        return;
    int end = (int)f->p.ib.payload_off + (int)f->p.ib.payload.len + f->p.ib.pad;
    GPtrArray *found = tree ? proto_find_first_finfo(tree, icrc) : NULL;
    bool there = found && found->len;
    if (found)
        g_ptr_array_free(found, TRUE);
    if (there || !tvb_bytes_exist(f->tvb, end, ICRC_SIZE))
        return;
    proto_tree_add_item(tree, icrc, f->tvb, end, ICRC_SIZE, ENC_BIG_ENDIAN);
    if (f->p.ib.has_lrh && tvb_bytes_exist(f->tvb, end + ICRC_SIZE, VCRC_SIZE))
        proto_tree_add_item(tree, vcrc, f->tvb, end + ICRC_SIZE, VCRC_SIZE, ENC_BIG_ENDIAN);
}

static void dissect_mad(struct frame *f, packet_info *pinfo, proto_tree *ib)
{
    sa_dissect(f, pinfo, ib);
    cm_dissect(f, pinfo, ib);
    add_lost_crcs(f, ib);
}

/* The built-in dissector writes "Invalid Packet Length from LRH!" for truncated frames. */
static void dissect_truncated(struct frame *f, packet_info *pinfo, proto_tree *tree)
{
    col_clear_fence(pinfo->cinfo, COL_INFO);
    col_clear(pinfo->cinfo, COL_INFO);
    payload_call(f, pinfo, tree);
}

/* Dissects what the built-in dissector does not: payloads of truncated frames, and MADs. */
static void frame_finish(struct frame *f, packet_info *pinfo, proto_tree *tree)
{
    enum payload_class class = f->p.classification.class;
    bool datagram = class == PAYLOAD_IPOIB || class == PAYLOAD_FRAGMENT;
    if (datagram && f->done)
        return; /* its MGID and its connection are shown below the encapsulation header */
    if (datagram) {
        dissect_truncated(f, pinfo, tree);
        return;
    }
    proto_tree *ib = place_below(tree, builtin_proto);
    if (class == PAYLOAD_MAD)
        dissect_mad(f, pinfo, ib);
    else if (f->p.classification.connection && !f->done)
        connection_add(ib, pinfo, f->tvb, f->p.classification.connection);
    if (f->p.ib.has_grh)
        mgid_add(ib, pinfo, f->tvb, f->p.ib.grh_off + GRH_DGID);
    place_before_crcs(ib);
}

static void call_builtin(dissector_handle_t handle, struct frame *f, packet_info *pinfo,
                         proto_tree *tree)
{
    struct competing *competing = competing_of(f);
    if (competing)
        competing_disable(competing);
    call_dissector_only(handle, f->tvb, pinfo, tree, NULL);
    if (competing)
        competing_restore();
}

/*
 * Restores the packet's source address. In the first pass, the built-in dissector overwrites the
 * packet's addresses with the LIDs of a CM REQ. It may not have set the address if it threw.
 */
static void restore_source(const struct frame *f, packet_info *pinfo, const address *before)
{
    if (f->p.ib.has_grh) {
        set_address(&pinfo->src, AT_IB, GID_SIZE, f->p.ib.sgid);
    } else if (f->p.ib.has_lrh) {
        uint16_t *lid = wmem_new(pinfo->pool, uint16_t);
        *lid = f->p.ib.slid;
        set_address(&pinfo->src, AT_IB, sizeof *lid, lid);
    } else {
        copy_address_shallow(&pinfo->src, before);
    }
}

/*
 * Calls the built-in dissector for frames at which it may throw: MADs and truncated headers.
 * Completes the frame before it throws the exception again.
 */
static void call_catching_errors(dissector_handle_t handle, struct frame *f, packet_info *pinfo,
                                 proto_tree *tree)
{
    address before;
    volatile unsigned long code = 0;
    const char *volatile message = NULL;

    copy_address_shallow(&before, &pinfo->src);
    cm_observe(f, pinfo);
    TRY
    {
        call_builtin(handle, f, pinfo, tree);
    }
    CATCH_BOUNDS_ERRORS
    {
        code = EXCEPT_CODE;
        message = GET_MESSAGE;
    }
    ENDTRY;
    competing_restore();
    if (f->p.mad.kind == MAD_KIND_CM || f->p.result != WIRE_OK || code)
        restore_source(f, pinfo, &before);
    frame_finish(f, pinfo, tree);
    if (code)
        THROW_MESSAGE((long)code, message);
}

static void dissect_frame(dissector_handle_t handle, struct frame *f, packet_info *pinfo,
                          proto_tree *tree)
{
    if (f->p.classification.class == PAYLOAD_MAD || f->p.result == WIRE_TRUNCATED) {
        call_catching_errors(handle, f, pinfo, tree);
    } else {
        call_builtin(handle, f, pinfo, tree);
        frame_finish(f, pinfo, tree);
    }
}

static int dissect_ib_from(dissector_handle_t handle, tvbuff_t *tvb, packet_info *pinfo,
                           proto_tree *tree, enum ib_start start)
{
    struct frame *f = plugin_enabled() ? frame_begin(tvb, pinfo, start) : NULL;
    if (!f)
        return call_dissector_only(handle, tvb, pinfo, tree, NULL);
    observe_frame(f, pinfo);
    TRY
    {
        frame_show_contradiction(f, pinfo, tree);
        dissect_frame(handle, f, pinfo, tree);
    }
    FINALLY /* a truncated frame throws, and Wireshark may dissect it again at once */
    {
        competing_restore();
        frame_end(f);
    }
    ENDTRY;
    return (int)tvb_captured_length(tvb);
}

static int dissect_ib(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
    return dissect_ib_from(builtin_ib, tvb, pinfo, tree, IB_START_LRH);
}

static int dissect_roce(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
    return dissect_ib_from(builtin_roce, tvb, pinfo, tree, IB_START_GRH);
}

static int dissect_roce2(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
    return dissect_ib_from(builtin_roce2, tvb, pinfo, tree, IB_START_BTH);
}

/*
 * Link types that Wireshark does not map arrive with encapsulation 0. LINKTYPE_INFINIBAND does only
 * if the wiretap plugin could not find it (doc/wireshark.md). Frames that do not look like
 * InfiniBand are shown as data, as without the plugin.
 */
static int dissect_unknown(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    if (!ib_plausible(tvb_view(tvb)))
        return call_dissector_with_data(data_handle, tvb, pinfo, tree, data);
    if (plugin_enabled())
        pcapng_note(tvb, pinfo, tree);
    return dissect_ib(tvb, pinfo, tree, data);
}

/*
 * ---- LINKTYPE_IPOIB and snoop: no InfiniBand headers. LINKTYPE_IPOIB has a pseudo header of 40
 * bytes.
 */

static void add_grh(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo)
{
    proto_item *ti = proto_tree_add_item(tree, hf_ipoib_grh, tvb, 0, GRH_SIZE, ENC_NA);
    proto_tree *sub = proto_item_add_subtree(ti, ett_ipoib_grh);
    proto_tree_add_item(sub, hf_ipoib_grh_ipver, tvb, 0, 1, ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf_ipoib_grh_tclass, tvb, 0, 2, ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf_ipoib_grh_flowlabel, tvb, 0, 4, ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf_ipoib_grh_paylen, tvb, GRH_PAY_LEN, 2, ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf_ipoib_grh_nxthdr, tvb, GRH_NXT_HDR, 1, ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf_ipoib_grh_hoplmt, tvb, GRH_HOP_LMT, 1, ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf_ipoib_grh_sgid, tvb, GRH_SGID, GID_SIZE, ENC_NA);
    proto_tree_add_item(sub, hf_ipoib_dgid, tvb, GRH_DGID, GID_SIZE, ENC_NA);
    mgid_add(sub, pinfo, tvb, GRH_DGID);
    set_address_tvb(&pinfo->src, AT_IB, GID_SIZE, tvb, GRH_SGID);
    set_address_tvb(&pinfo->dst, AT_IB, GID_SIZE, tvb, GRH_DGID);
}

static void add_address(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo)
{
    proto_item *ti = proto_tree_add_item(tree, hf_ipoib_daddr, tvb, DLT_IPOIB_ADDRESS, LLADDR_SIZE,
                                         ENC_NA);
    proto_tree *sub = proto_item_add_subtree(ti, ett_ipoib_grh);
    lladdr_add(sub, pinfo, tvb, DLT_IPOIB_ADDRESS, "Destination");
    proto_tree_add_item(sub, hf_ipoib_daddr_qpn, tvb, DLT_IPOIB_ADDRESS + LLADDR_QPN, 3,
                        ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf_ipoib_dgid, tvb, DLT_IPOIB_ADDRESS + LLADDR_GID, GID_SIZE, ENC_NA);
    set_address_tvb(&pinfo->dst, AT_IB, GID_SIZE, tvb, DLT_IPOIB_ADDRESS + LLADDR_GID);
}

static void observe_if_enabled(tvbuff_t *tvb, packet_info *pinfo)
{
    if (plugin_enabled())
        observe_ipoib_frame(tvb, pinfo);
}

static int dissect_dlt_ipoib(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
    struct view v = tvb_view(tvb);
    observe_if_enabled(tvb, pinfo);
    col_set_str(pinfo->cinfo, COL_PROTOCOL, "IPoIB");
    col_clear(pinfo->cinfo, COL_INFO);
    proto_item *ti = proto_tree_add_item(tree, hf_ipoib_pseudo, tvb, 0, DLT_IPOIB_PSEUDO, ENC_NA);
    proto_tree *sub = proto_item_add_subtree(ti, ett_ipoib_pseudo);
    if (dlt_ipoib_has_grh(v))
        add_grh(sub, tvb, pinfo);
    else
        add_address(sub, tvb, pinfo);
    encap_dissect(tvb_new_subset_remaining(tvb, DLT_IPOIB_PSEUDO), pinfo, tree, NULL);
    return (int)tvb_captured_length(tvb);
}

static int dissect_snoop(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
    observe_if_enabled(tvb, pinfo);
    col_set_str(pinfo->cinfo, COL_PROTOCOL, "IPoIB");
    col_clear(pinfo->cinfo, COL_INFO);
    encap_dissect(tvb, pinfo, tree, NULL);
    return (int)tvb_captured_length(tvb);
}

/* Cooked captures: the plugin only observes the frame; the built-in dissectors show it. */

static int dissect_sll(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    observe_if_enabled(tvb, pinfo);
    return call_dissector_only(builtin_sll, tvb, pinfo, tree, data);
}

static int dissect_sll2(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    observe_if_enabled(tvb, pinfo);
    return call_dissector_only(builtin_sll2, tvb, pinfo, tree, data);
}

/* ---- registration */

static dissector_handle_t at_roce2_port(unsigned port)
{
    dissector_table_t udp = find_dissector_table("udp.port");
    return udp && port ? dissector_get_uint_handle(udp, port) : NULL;
}

/*
 * Takes the UDP port of RoCE v2 from the built-in dissector. The port is a preference of the
 * built-in dissector, which registers itself again whenever one of its preferences changes. So this
 * runs at every file. A dissector that the user chose with Decode As is left in place.
 */
static void register_roce2_port(void)
{
    unsigned port = preference_uint("infiniband", "rroce.port");
    if (builtin_roce2 && at_roce2_port(port) == builtin_roce2)
        dissector_add_uint("udp.port", port, our_roce2);
}

static dissector_handle_t entry_handle(dissector_t dissector, int proto, const char *name)
{
    return create_dissector_handle_with_name(dissector, proto, name);
}

void entry_register(void)
{
    static hf_register_info hf[] = {
        {&hf_ipoib_pseudo,
         {"Pseudo header", "ipoib.pseudo", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_daddr,
         {"Destination address", "ipoib.daddr", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_daddr_qpn,
         {"Destination QPN", "ipoib.daddr.qpn", FT_UINT24, BASE_HEX, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_dgid,
         {"Destination GID", "ipoib.dgid", FT_IPv6, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_grh,
         {"Global Route Header", "ipoib.grh", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_grh_ipver,
         {"IP Version", "ipoib.grh.ipver", FT_UINT8, BASE_DEC, NULL, 0xf0, NULL, HFILL}},
        {&hf_ipoib_grh_tclass,
         {"Traffic Class", "ipoib.grh.tclass", FT_UINT16, BASE_DEC, NULL, 0x0ff0, NULL, HFILL}},
        {&hf_ipoib_grh_flowlabel,
         {"Flow Label", "ipoib.grh.flowlabel", FT_UINT32, BASE_DEC, NULL, 0x000fffff, NULL, HFILL}},
        {&hf_ipoib_grh_paylen,
         {"Payload Length", "ipoib.grh.paylen", FT_UINT16, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_grh_nxthdr,
         {"Next Header", "ipoib.grh.nxthdr", FT_UINT8, BASE_HEX, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_grh_hoplmt,
         {"Hop Limit", "ipoib.grh.hoplmt", FT_UINT8, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_grh_sgid,
         {"Source GID", "ipoib.grh.sgid", FT_IPv6, BASE_NONE, NULL, 0, NULL, HFILL}},
    };
    static int *ett[] = {&ett_ipoib_pseudo, &ett_ipoib_grh};
    int ib = proto_get_id_by_filter_name("infiniband");

    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    /*
     * These names appear neither in the tree nor in frame.protocols: they only serve registration.
     */
    proto_ipoib_entry = proto_register_protocol_in_name_only("InfiniBand with IPoIB", "IPoIB entry",
                                                             "ipoib.entry", ib, FT_PROTOCOL);
    proto_ipoib_entry_sll = proto_register_protocol_in_name_only(
        "Linux cooked capture with IPoIB", "IPoIB cooked entry", "ipoib.entry_sll",
        proto_get_id_by_filter_name("sll"), FT_PROTOCOL);
}

/* A handle is NULL if this Wireshark has no dissector for the link type. */
static void register_cooked(void)
{
    dissector_table_t table = find_dissector_table(ENCAP_TABLE);
    builtin_sll = dissector_get_uint_handle(table, WTAP_ENCAP_SLL);
    builtin_sll2 = dissector_get_uint_handle(table, WTAP_ENCAP_SLL2);
    if (builtin_sll)
        dissector_add_uint(ENCAP_TABLE, WTAP_ENCAP_SLL,
                           entry_handle(dissect_sll, proto_ipoib_entry_sll, "ipoib.entry.sll"));
    if (builtin_sll2)
        dissector_add_uint(ENCAP_TABLE, WTAP_ENCAP_SLL2,
                           entry_handle(dissect_sll2, proto_ipoib_entry_sll, "ipoib.entry.sll2"));
}

void entry_handoff(void)
{
    dissector_table_t ethertype = find_dissector_table("ethertype");
    dissector_handle_t ib = entry_handle(dissect_ib, proto_ipoib_entry, "ipoib.entry.infiniband");
    dissector_handle_t dlt = entry_handle(dissect_dlt_ipoib, proto_ipoib,
                                          "ipoib.entry.linktype_ipoib");
    dissector_handle_t snoop = entry_handle(dissect_snoop, proto_ipoib, "ipoib.entry.snoop");

    builtin_ib = find_dissector("infiniband");
    builtin_proto = proto_get_id_by_filter_name("infiniband");
    data_handle = find_dissector("data");
    dissector_add_uint(ERF_TABLE, ERF_TYPE_INFINIBAND, ib);
    dissector_add_uint(ENCAP_TABLE, WTAP_ENCAP_INFINIBAND, ib);
    dissector_add_uint(
        ENCAP_TABLE, WTAP_ENCAP_UNKNOWN,
        entry_handle(dissect_unknown, proto_ipoib_entry, "ipoib.entry.linktype_infiniband"));
    dissector_add_uint(ENCAP_TABLE, WTAP_ENCAP_IP_OVER_IB_PCAP, dlt);
    dissector_add_uint(ENCAP_TABLE, WTAP_ENCAP_IP_OVER_IB_SNOOP, snoop);

    register_cooked();

    builtin_roce = dissector_get_uint_handle(ethertype, ETHERTYPE_ROCE);
    if (builtin_roce)
        dissector_add_uint("ethertype", ETHERTYPE_ROCE,
                           entry_handle(dissect_roce, proto_ipoib_entry, "ipoib.entry.roce"));
    builtin_roce2 = at_roce2_port(preference_uint("infiniband", "rroce.port"));
    our_roce2 = entry_handle(dissect_roce2, proto_ipoib_entry, "ipoib.entry.roce2");
    register_init_routine(register_roce2_port);
    register_roce2_port();
}
