/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The encapsulation header (RFC 4391 §6) and the datagram after it, over any link type. */
#include "plugin/payload.h"
#include "plugin/cm.h"
#include "plugin/frame.h"
#include "plugin/message.h"
#include "plugin/mgid.h"
#include "plugin/plugin.h"
#include "plugin/rivals.h"
#include "plugin/wanted.h"

#include <epan/etypes.h>
#include <epan/exceptions.h>
#include <epan/expert.h>
#include <epan/show_exception.h>

#include "wire/encap.h"
#include "wire/mgid.h"

static int hf_type = -1, hf_reserved = -1, hf_mode = -1;
static int ett_ipoib = -1;
static expert_field ei_short = EI_INIT;

static dissector_table_t ethertypes;
static dissector_handle_t payload_handle;

static const value_string mode_names[] = {
    {IB_RC, "connected mode, RC"},
    {IB_UC, "connected mode, UC"},
    {IB_UD, "datagram mode, UD"},
    {0, NULL},
};

static void add_mode(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, const struct frame *f)
{
    proto_item *ti = proto_tree_add_uint(tree, hf_mode, tvb, 0, 0, f->p.ib.transport);
    proto_item_set_generated(ti);
    if (f->p.ib.dgid && mgid_is_ipoib(f->p.ib.dgid))
        mgid_add(tree, pinfo, f->tvb, f->p.ib.grh_off + GRH_DGID);
    message_add_number(tree, tvb, f);
    if (f->p.verdict.connection)
        connection_add(tree, pinfo, tvb, f->p.verdict.connection);
}

/*
 * Shorter than the encapsulation header. An empty message is not a datagram, and not a violation.
 */
static void too_short(tvbuff_t *tvb, packet_info *pinfo, proto_item *ti)
{
    if (tvb_reported_length(tvb) == 0) {
        col_append_str(pinfo->cinfo, COL_INFO, "empty message");
        proto_item_append_text(ti, ", empty message");
        return;
    }
    col_append_str(pinfo->cinfo, COL_INFO, "too short for the encapsulation header");
    expert_add_info(pinfo, ti, &ei_short);
    proto_item_append_text(ti, ", %u octets", tvb_reported_length(tvb));
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
        add_mode(sub, pinfo, tvb, f);
    if (view_has(v, 0, ENCAP_SIZE) == WIRE_MALFORMED) {
        too_short(tvb, pinfo, ti);
        return;
    }
    /* if the header is truncated, these calls throw */
    if (wanted) {
        proto_tree_add_item(sub, hf_type, tvb, ENCAP_TYPE, 2, ENC_BIG_ENDIAN);
        proto_tree_add_item(sub, hf_reserved, tvb, ENCAP_RESERVED, 2, ENC_BIG_ENDIAN);
    }
    uint16_t type = tvb_get_ntohs(tvb, ENCAP_TYPE);
    tvb_ensure_bytes_exist(tvb, 0, ENCAP_SIZE);
    if (wanted)
        proto_item_append_text(ti, ", Type: %s (0x%04x)",
                               val_to_str_const(type, etype_vals, "unknown"), type);
    if (v.len == ENCAP_SIZE) {
        col_append_str(pinfo->cinfo, COL_INFO, "no datagram behind the encapsulation header");
        return;
    }
    tvbuff_t *next = tvb_new_subset_remaining(tvb, ENCAP_SIZE);
    if (dissector_try_uint(ethertypes, type, next, pinfo, tree))
        return;
    col_add_fstr(pinfo->cinfo, COL_INFO, "Ethertype 0x%04x", type);
    call_data_dissector(next, pinfo, tree);
}

tvbuff_t *payload_tvb(const struct frame *f)
{
    return tvb_new_subset_length_caplen(f->tvb, (int)f->p.ib.payload_off, (int)f->p.ib.payload.cap,
                                        (int)f->p.ib.payload.len);
}

/*
 * Shows an exception of the datagram here, so that the built-in dissector continues with the CRCs
 * after it.
 */
static int payload_dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    struct frame *f = data;
    f->done = true;
    TRY
    {
        if (f->p.verdict.class == PAYLOAD_IPOIB)
            encap_dissect(tvb, pinfo, tree, f);
        else
            message_dissect(tvb, f, pinfo, tree);
    }
    CATCH_NONFATAL_ERRORS
    {
        show_exception(tvb, pinfo, tree, EXCEPT_CODE, GET_MESSAGE);
    }
    ENDTRY;
    return (int)tvb_captured_length(tvb);
}

void payload_call(struct frame *f, packet_info *pinfo, proto_tree *tree)
{
    call_dissector_with_data(payload_handle, payload_tvb(f), pinfo, tree, f);
}

/*
 * Heuristic dissector that the built-in dissector calls for payloads. entry.c has classified the
 * frame before.
 */
static ws_bool heuristic(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
    struct frame *f = frame_current(pinfo);
    rivals_restore();
    if (!f || f->done ||
        (f->p.verdict.class != PAYLOAD_IPOIB && f->p.verdict.class != PAYLOAD_PART))
        /* Accept an empty payload: a built-in heuristic reports it as malformed. */
        return tvb_reported_length(tvb) == 0;
    col_clear(pinfo->cinfo, COL_INFO);
    payload_dissect(payload_tvb(f), pinfo, tree, f);
    return TRUE;
}

/*
 * Disables the built-in heuristic "EtherType over IB". It accepts any payload that starts like an
 * Ethertype, for example RDMA WRITE data or the middle of a message. With this plugin it is not
 * needed; users can enable it again. It stays disabled even if "ipoib" is disabled: Wireshark reads
 * the user's settings later, and then the plugin could not tell its own change from the user's.
 */
static void retire_builtin_guess(void)
{
    heur_dtbl_entry_t *guess = find_heur_dissector_by_unique_short_name("eth_over_ib");
    if (!guess)
        return;
    guess->enabled = FALSE;
#if WS_AT_LEAST(4, 2)
    guess->enabled_by_default = FALSE;
#endif
}

void payload_register(void)
{
    static hf_register_info hf[] = {
        {&hf_type,
         {"Type", "ipoib.type", FT_UINT16, BASE_HEX, VALS(etype_vals), 0, "RFC 4391 section 6",
          HFILL}},
        {&hf_reserved,
         {"Reserved", "ipoib.reserved", FT_UINT16, BASE_HEX, NULL, 0, "RFC 4391 section 6", HFILL}},
        {&hf_mode,
         {"Mode", "ipoib.mode", FT_UINT8, BASE_DEC, VALS(mode_names), 0,
          "by the transport of the packet", HFILL}},
    };
    static int *ett[] = {&ett_ipoib};
    static ei_register_info ei[] = {
        {&ei_short,
         {"ipoib.short", PI_PROTOCOL, PI_WARN,
          "Too short for the encapsulation header (RFC 4391 section 6)", EXPFILL}},
    };
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    expert_register_field_array(expert_register_protocol(proto_ipoib), ei, array_length(ei));
}

void payload_handoff(void)
{
    ethertypes = find_dissector_table("ethertype");
    payload_handle = create_dissector_handle(payload_dissect, proto_ipoib);
    heur_dissector_add("infiniband.payload", heuristic, "IP over InfiniBand", "ipoib_infiniband",
                       proto_ipoib, HEURISTIC_ENABLE);
    retire_builtin_guess();
}
