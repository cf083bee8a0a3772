/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The encapsulation header (RFC 4391 section 6) and the datagram after it, over any link type. */
#include "plugin/encap.h"
#include "plugin/cm.h"
#include "plugin/frame.h"
#include "plugin/mgid.h"
#include "plugin/protocol.h"
#include "plugin/wanted.h"

#include <epan/etypes.h>
#include <epan/expert.h>

#include "wire/encap.h"
#include "wire/mgid.h"

static int hf_ipoib_message = -1, hf_ipoib_type = -1, hf_ipoib_reserved = -1, hf_ipoib_mode = -1;
static int ett_ipoib = -1;
static expert_field ei_ipoib_short = EI_INIT;

static dissector_table_t ethertypes;

static const value_string mode_names[] = {
    {IB_RC, "RC"},
    {IB_UC, "UC"},
    {IB_UD, "UD"},
    {0, NULL},
};

void encap_add_message_number(proto_tree *tree, tvbuff_t *tvb, const struct frame *f)
{
    if (f->p.classification.class == PAYLOAD_FRAGMENT && f->p.classification.fragment.number)
        proto_item_set_generated(proto_tree_add_uint(tree, hf_ipoib_message, tvb, 0, 0,
                                                     f->p.classification.fragment.number));
}

void encap_add_mode(proto_tree *tree, tvbuff_t *tvb, const struct frame *f)
{
    proto_item *ti = proto_tree_add_uint(tree, hf_ipoib_mode, tvb, 0, 0, f->p.ib.transport);
    proto_item_append_text(ti,
                           f->p.ib.transport == IB_UD ? " (datagram mode)" : " (connected mode)");
    proto_item_set_generated(ti);
}

static void add_transport(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb,
                          const struct frame *f)
{
    encap_add_mode(tree, tvb, f);
    if (f->p.ib.dgid && mgid_is_ipoib(f->p.ib.dgid))
        mgid_add(tree, pinfo, f->tvb, f->p.ib.grh_off + GRH_DGID);
    encap_add_message_number(tree, tvb, f);
    if (f->p.classification.connection)
        connection_add(tree, pinfo, tvb, f->p.classification.connection);
}

/*
 * Shorter than the encapsulation header. An empty message is not a datagram, and not a violation.
 */
static void too_short(tvbuff_t *tvb, packet_info *pinfo, proto_item *ti)
{
    if (tvb_reported_length(tvb) == 0) {
        col_append_str(pinfo->cinfo, COL_INFO, "Empty message");
        proto_item_append_text(ti, ", empty message");
        return;
    }
    col_append_str(pinfo->cinfo, COL_INFO, "Too short for the encapsulation header");
    expert_add_info(pinfo, ti, &ei_ipoib_short);
    proto_item_append_text(ti, ", %u bytes", tvb_reported_length(tvb));
}

void encap_dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const struct frame *f)
{
    struct view v = tvb_view(tvb);
    proto_item *ti = proto_tree_add_item(tree, proto_ipoib, tvb, 0,
                                         v.len < ENCAP_SIZE ? (int)v.cap : ENCAP_SIZE, ENC_NA);
    proto_tree *sub = proto_item_add_subtree(ti, ett_ipoib);

    col_set_str(pinfo->cinfo, COL_PROTOCOL, "IPoIB");
    bool wanted = tree_is_wanted(tree);
    if (f && wanted)
        add_transport(sub, pinfo, tvb, f);
    if (view_has(v, 0, ENCAP_SIZE) == WIRE_MALFORMED) {
        too_short(tvb, pinfo, ti);
        return;
    }
    /* if the header is truncated, these calls throw */
    if (wanted) {
        proto_tree_add_item(sub, hf_ipoib_type, tvb, ENCAP_TYPE, 2, ENC_BIG_ENDIAN);
        proto_tree_add_item(sub, hf_ipoib_reserved, tvb, ENCAP_RESERVED, 2, ENC_BIG_ENDIAN);
    }
    uint16_t type = tvb_get_ntohs(tvb, ENCAP_TYPE);
    tvb_ensure_bytes_exist(tvb, 0, ENCAP_SIZE);
    if (wanted)
        proto_item_append_text(ti, ", Type: %s (0x%04x)",
                               val_to_str_const(type, etype_vals, "unknown"), type);
    if (v.len == ENCAP_SIZE) {
        col_append_str(pinfo->cinfo, COL_INFO, "No datagram after the encapsulation header");
        return;
    }
    tvbuff_t *next = tvb_new_subset_remaining(tvb, ENCAP_SIZE);
    if (dissector_try_uint(ethertypes, type, next, pinfo, tree))
        return;
    col_add_fstr(pinfo->cinfo, COL_INFO, "Ethertype 0x%04x", type);
    call_data_dissector(next, pinfo, tree);
}

void encap_register(void)
{
    static hf_register_info hf[] = {
        {&hf_ipoib_type,
         {"Type", "ipoib.type", FT_UINT16, BASE_HEX, VALS(etype_vals), 0, "RFC 4391 section 6",
          HFILL}},
        {&hf_ipoib_reserved,
         {"Reserved", "ipoib.reserved", FT_UINT16, BASE_HEX, NULL, 0, "RFC 4391 section 6", HFILL}},
        {&hf_ipoib_mode,
         {"Mode", "ipoib.mode", FT_UINT8, BASE_DEC, VALS(mode_names), 0,
          "by the transport of the packet", HFILL}},
        {&hf_ipoib_message,
         {"Message", "ipoib.message", FT_UINT32, BASE_DEC, NULL, 0,
          "number of the message in this capture", HFILL}},
    };
    static int *ett[] = {&ett_ipoib};
    static ei_register_info ei[] = {
        {&ei_ipoib_short,
         {"ipoib.short", PI_PROTOCOL, PI_WARN,
          "Too short for the encapsulation header (RFC 4391 section 6)", EXPFILL}},
    };
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    expert_register_field_array(expert_register_protocol(proto_ipoib), ei, array_length(ei));
}

void encap_handoff(void)
{
    ethertypes = find_dissector_table("ethertype");
}
