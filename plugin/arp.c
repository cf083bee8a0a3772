/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ARP and RARP with hardware type 32 (RFC 4391 §9.2). The built-in dissector shows the message
 * under its own field names. This file adds what the built-in one does only for Ethernet: the parts
 * of the 20-byte addresses, their IP addresses, duplicate use of an IP address, requests and
 * replies.
 */
#include "plugin/arp.h"
#include "plugin/frame.h"
#include "plugin/lladdr.h"
#include "plugin/transaction.h"
#include "plugin/place.h"
#include "plugin/protocol.h"
#include "plugin/state.h"
#include "plugin/store.h"
#include "plugin/wanted.h"

#include <epan/expert.h>
#include <epan/to_str.h>

#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/nanoseconds.h"

static int proto_entry_arp = -1;
static int hf_arp_duplicate_address_frame = -1, hf_arp_seconds_since_duplicate_address_frame = -1;
static int ett_ipoib_arp = -1, ett_ipoib_duplicate = -1;
static expert_field ei_arp_duplicate_address_detected = EI_INIT;

static dissector_handle_t builtin_arp;

/*
 * Fields of the built-in dissector, for messages whose addresses it does not show.
 */
static struct {
    int arp, hw_type, proto_type, hw_size, proto_size, opcode, src_hw, src_ip, dst_hw, dst_ip;
} builtin;

struct duplicate {
    uint32_t frame;
    uint32_t seconds;
    uint8_t lladdr[LLADDR_SIZE];
};

static bool is_ipoib(const struct arp *a)
{
    return a->pro == TYPE_IPV4 && a->pln == 4 && a->hln == LLADDR_SIZE;
}

/* Stored with the frame, so that a later dissection of the packet shows the same. */
void arp_keep_duplicate(packet_info *pinfo, const struct packet *p, const struct events *e)
{
    if (!e->has_duplicate)
        return;
    const struct neighbour *other = &e->duplicate;
    struct duplicate *d = store_add(pinfo->num, DATA_DUPLICATE, sizeof *d,
                                    alignof(struct duplicate));
    d->frame = other->last_frame;
    d->seconds = (uint32_t)CLAMP(p->at.ns / NANOSECONDS - other->last_seconds, 0, UINT32_MAX);
    memcpy(d->lladdr, other->lladdr, LLADDR_SIZE);
}

static void show_duplicate(packet_info *pinfo, proto_tree *tree, tvbuff_t *tvb, const struct arp *a)
{
    const struct duplicate *d = store_find(pinfo->num, DATA_DUPLICATE);
    if (!d)
        return;
    const char *ip = tvb_ip_to_str(pinfo->pool, tvb, (int)a->spa);
    proto_item *ti;
    proto_tree *sub = proto_tree_add_subtree_format(
        tree, tvb, 0, 0, ett_ipoib_duplicate, &ti,
        "Duplicate IP address detected for %s: also in use by %s (frame %u)", ip,
        bytes_to_str_punct(pinfo->pool, d->lladdr, LLADDR_SIZE, ':'), d->frame);
    proto_item_set_generated(ti);
    ti = proto_tree_add_uint(sub, hf_arp_duplicate_address_frame, tvb, 0, 0, d->frame);
    proto_item_set_generated(ti);
    expert_add_info_format(pinfo, ti, &ei_arp_duplicate_address_detected,
                           "Duplicate IP address configured (%s)", ip);
    proto_item_set_generated(proto_tree_add_uint(sub, hf_arp_seconds_since_duplicate_address_frame,
                                                 tvb, 0, 0, d->seconds));
    col_append_fstr(pinfo->cinfo, COL_INFO, " (duplicate use of %s detected!)", ip);
}

static struct transaction_key arp_key(packet_info *pinfo, uint8_t kind, const uint8_t *requester,
                                      const uint8_t *asked, size_t n)
{
    struct transaction_key k = transaction_key_on(kind, frame_link(pinfo));
    transaction_key_add(&k, requester, n);
    transaction_key_add(&k, asked, n);
    return k;
}

/* ARP is matched by both IP addresses, RARP by the target's link-layer address (RFC 903). */
static void match_arp(packet_info *pinfo, const uint8_t *p, const struct arp *a)
{
    struct transaction_key k;
    if (a->op == ARP_REQUEST) {
        k = arp_key(pinfo, TRANSACTION_ARP, p + a->spa, p + a->tpa, 4);
        transaction_request(pinfo, &k, 0);
    } else if (a->op == ARP_REPLY) {
        k = arp_key(pinfo, TRANSACTION_ARP, p + a->tpa, p + a->spa, 4);
        transaction_response(pinfo, &k);
    } else if (a->op == RARP_REQUEST || a->op == RARP_REPLY) {
        k = arp_key(pinfo, TRANSACTION_RARP, p + a->tha, p + a->tha, LLADDR_SIZE);
        if (a->op == RARP_REQUEST)
            transaction_request(pinfo, &k, 0);
        else
            transaction_response(pinfo, &k);
    }
}

/* Adds the subtree for the link-layer addresses. */
static proto_tree *arp_tree(proto_tree *tree, tvbuff_t *tvb, uint32_t size)
{
    int size_there = (int)MIN(size, tvb_captured_length(tvb));
    proto_item *ti;
    return proto_tree_add_subtree(tree, tvb, 0, size_there, ett_ipoib_arp, &ti,
                                  "IPoIB link-layer addresses");
}

/*
 * Sets the packet's addresses from the message if the link type has none (LINKTYPE_IPOIB has only
 * the destination).
 */
static void fill_addresses(packet_info *pinfo, tvbuff_t *tvb, struct view v, const struct arp *a)
{
    if (pinfo->src.type == AT_NONE && !lladdr_is_zero(v.p + a->sha))
        set_address_tvb(&pinfo->src, AT_IB, GID_SIZE, tvb, (int)a->sha + LLADDR_GID);
    if (pinfo->dst.type == AT_NONE && !lladdr_is_zero(v.p + a->tha))
        set_address_tvb(&pinfo->dst, AT_IB, GID_SIZE, tvb, (int)a->tha + LLADDR_GID);
}

/* a: the fixed part of the message is captured. whole: its addresses are captured, too. */
static void dissect_infiniband(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree,
                               const struct arp *a, bool whole)
{
    struct view v = tvb_view(tvb);
    if (a->hln != LLADDR_SIZE)
        return;
    proto_tree *arp = tree_is_wanted(tree) ? place_below(tree, builtin.arp) : NULL;
    proto_tree *sub = arp ? arp_tree(arp, tvb, a->size) : NULL;
    if (whole)
        fill_addresses(pinfo, tvb, v, a);
    if (view_has(v, a->sha, LLADDR_SIZE) == WIRE_OK)
        lladdr_add(sub, pinfo, tvb, (int)a->sha, "Sender");
    if (view_has(v, a->tha, LLADDR_SIZE) == WIRE_OK)
        lladdr_add(sub, pinfo, tvb, (int)a->tha, "Target");
    if (whole && is_ipoib(a) && !pinfo->fd->visited)
        match_arp(pinfo, v.p, a);
    transaction_show(pinfo, arp, tvb);
    if (whole && is_ipoib(a))
        show_duplicate(pinfo, arp, tvb, a);
}

/*
 * Dissects a truncated or malformed message. The built-in dissector reads the last address before
 * it shows the first, and so shows none. This function adds field by field; the field that is not
 * captured throws the exception.
 */
static int add_truncated(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const struct arp *a)
{
    proto_item *ti = proto_tree_add_item(tree, builtin.arp, tvb, 0, -1, ENC_NA);
    proto_tree *sub = proto_item_add_subtree(ti, ett_ipoib_arp);

    col_set_str(pinfo->cinfo, COL_PROTOCOL,
                a->op == RARP_REQUEST || a->op == RARP_REPLY ? "RARP" : "ARP");
    proto_tree_add_item(sub, builtin.hw_type, tvb, ARP_HRD, 2, ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, builtin.proto_type, tvb, ARP_PRO, 2, ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, builtin.hw_size, tvb, ARP_HLN, 1, ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, builtin.proto_size, tvb, ARP_PLN, 1, ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, builtin.opcode, tvb, ARP_OP, 2, ENC_BIG_ENDIAN);
    if (is_ipoib(a)) {
        dissect_infiniband(tvb, pinfo, tree, a, false);
        proto_tree_add_item(sub, builtin.src_hw, tvb, (int)a->sha, a->hln, ENC_NA);
        proto_tree_add_item(sub, builtin.src_ip, tvb, (int)a->spa, a->pln, ENC_BIG_ENDIAN);
        proto_tree_add_item(sub, builtin.dst_hw, tvb, (int)a->tha, a->hln, ENC_NA);
        proto_tree_add_item(sub, builtin.dst_ip, tvb, (int)a->tpa, a->pln, ENC_BIG_ENDIAN);
    }
    tvb_ensure_bytes_exist(tvb, 0, (int)a->size); /* addresses of other lengths */
    return (int)tvb_captured_length(tvb);
}

static int dissect_arp(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    struct view v = tvb_view(tvb);
    struct arp a = {0};
    bool fixed;
    enum wire_result r = arp_decode(v, &a, &fixed);
    bool ours = v.cap >= 2 && be16(v.p + ARP_HRD) == ARP_HRD_INFINIBAND && plugin_enabled();
    if (ours && r != WIRE_OK)
        return add_truncated(tvb, pinfo, tree, &a);
    int n = call_dissector_only(builtin_arp, tvb, pinfo, tree, data);
    if (ours)
        dissect_infiniband(tvb, pinfo, tree, &a, true);
    return n;
}

void arp_register(void)
{
    static hf_register_info hf[] = {
        {&hf_arp_duplicate_address_frame,
         {"Frame showing earlier use of IP address", "arp.duplicate-address-frame", FT_FRAMENUM,
          BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_arp_seconds_since_duplicate_address_frame,
         {"Seconds since earlier frame seen", "arp.seconds-since-duplicate-address-frame",
          FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL}},
    };
    static ei_register_info ei[] = {
        {&ei_arp_duplicate_address_detected,
         {"arp.duplicate-address-detected", PI_SEQUENCE, PI_WARN, "Duplicate IP address configured",
          EXPFILL}},
    };
    static int *ett[] = {&ett_ipoib_arp, &ett_ipoib_duplicate};
    int arp = proto_get_id_by_filter_name("arp");
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    expert_register_field_array(expert_register_protocol(proto_ipoib), ei, array_length(ei));
    proto_entry_arp = proto_register_protocol_in_name_only("ARP with IPoIB addresses", "ARP entry",
                                                           "arp.ipoib_entry", arp, FT_PROTOCOL);
}

static void find_builtin_fields(void)
{
    builtin.arp = proto_get_id_by_filter_name("arp");
    builtin.hw_type = proto_registrar_get_id_byname("arp.hw.type");
    builtin.proto_type = proto_registrar_get_id_byname("arp.proto.type");
    builtin.hw_size = proto_registrar_get_id_byname("arp.hw.size");
    builtin.proto_size = proto_registrar_get_id_byname("arp.proto.size");
    builtin.opcode = proto_registrar_get_id_byname("arp.opcode");
    builtin.src_hw = proto_registrar_get_id_byname("arp.src.hw");
    builtin.src_ip = proto_registrar_get_id_byname("arp.src.proto_ipv4");
    builtin.dst_hw = proto_registrar_get_id_byname("arp.dst.hw");
    builtin.dst_ip = proto_registrar_get_id_byname("arp.dst.proto_ipv4");
}

/* Wireshark dissects ARP and RARP with one dissector. */
void arp_handoff(void)
{
    find_builtin_fields();
    builtin_arp = dissector_get_uint_handle(find_dissector_table("ethertype"), TYPE_ARP);
    if (!builtin_arp)
        return;
    dissector_handle_t ours = create_dissector_handle_with_name(dissect_arp, proto_entry_arp,
                                                                "ipoib.entry.arp");
    dissector_add_uint("ethertype", TYPE_ARP, ours);
    dissector_add_uint("ethertype", TYPE_RARP, ours);
}
