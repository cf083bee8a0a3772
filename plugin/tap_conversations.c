/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IPoIB in Wireshark's windows Conversations and Endpoints, and in -z conv,ipoib and -z
 * endpoints,ipoib: frames with IPoIB by IP address, and by GID. A table takes its name, its filter
 * name and its tap from a protocol, so the table by GID has a protocol of its own.
 *
 * Only what a frame itself contains is counted, so that a display filter can find the frames of a
 * row: unicast without a GRH has LIDs. Wireshark makes the filters "A" and "A <-> B" of hidden
 * fields, which only the counted frames have (add_addresses()). The filters of one direction use
 * the fields of the InfiniBand headers: they also find frames of other protocols, and that of a LID
 * frames with a GRH.
 */
#include "plugin/frame.h"
#include "plugin/place.h"
#include "plugin/protocol.h"
#include "plugin/tap.h"

#include <epan/address_types.h>
#include <epan/conversation_table.h>
#include <epan/tap.h>

static int tap_gid = -1, proto_ipoib_gid = -1, proto_infiniband = -1;
static int hf_ipoib_gid_addr = -1, hf_ipoib_lid = -1;
static int address_lid = -1; /* type of an address that is a LID */

/* ---- display filters of a row */

static const char *ip_field(const address *a, conv_filter_type_e type)
{
    static const char *const v4[] = {"ip.src", "ip.dst", "ip.addr"};
    static const char *const v6[] = {"ipv6.src", "ipv6.dst", "ipv6.addr"};
    if (type > CONV_FT_ANY_ADDRESS)
        return CONV_FILTER_INVALID;
    return a->type == AT_IPv6 ? v6[type] : v4[type];
}

/* GIDs are kept as IPv6 addresses, which filters understand. */
static const char *gid_field(const address *a, conv_filter_type_e type)
{
    static const char *const gid[] = {"infiniband.grh.sgid", "infiniband.grh.dgid",
                                      "ipoib.gid.addr"};
    static const char *const lid[] = {"infiniband.lrh.slid", "infiniband.lrh.dlid", "ipoib.lid"};
    if (type > CONV_FT_ANY_ADDRESS)
        return CONV_FILTER_INVALID;
    return a->type == AT_IPv6 ? gid[type] : lid[type];
}

static bool is_of_source(conv_filter_type_e type)
{
    return type != CONV_FT_DST_ADDRESS;
}

static const char *ip_of_conversation(conv_item_t *row, conv_filter_type_e type)
{
    return ip_field(is_of_source(type) ? &row->src_address : &row->dst_address, type);
}

static const char *gid_of_conversation(conv_item_t *row, conv_filter_type_e type)
{
    return gid_field(is_of_source(type) ? &row->src_address : &row->dst_address, type);
}

static const char *ip_of_endpoint(endpoint_item_t *row, conv_filter_type_e type)
{
    return ip_field(&row->myaddress, type);
}

static const char *gid_of_endpoint(endpoint_item_t *row, conv_filter_type_e type)
{
    return gid_field(&row->myaddress, type);
}

static ct_dissector_info_t ip_conversations = {ip_of_conversation};
static ct_dissector_info_t gid_conversations = {gid_of_conversation};
static et_dissector_info_t ip_endpoints = {ip_of_endpoint};
static et_dissector_info_t gid_endpoints = {gid_of_endpoint};

/* ---- counting */

struct pair_of_addresses {
    address src, dst;
};

static void add_conversation(conv_hash_t *table, packet_info *pinfo,
                             const struct pair_of_addresses *a, ct_dissector_info_t *info)
{
    add_conversation_table_data(table, &a->src, &a->dst, 0, 0, 1, (int)pinfo->fd->pkt_len,
                                &pinfo->rel_ts, &pinfo->abs_ts, info, CONVERSATION_NONE);
}

static void add_endpoints(conv_hash_t *table, packet_info *pinfo, const struct pair_of_addresses *a,
                          et_dissector_info_t *info)
{
    int bytes = (int)pinfo->fd->pkt_len;
    add_endpoint_table_data(table, &a->src, 0, TRUE, 1, bytes, info, ENDPOINT_NONE);
    add_endpoint_table_data(table, &a->dst, 0, FALSE, 1, bytes, info, ENDPOINT_NONE);
}

/*
 * The IP addresses of the frame. Of a message in several packets, the packet that completes it has
 * them, like in Wireshark's own tables.
 */
static bool ip_addresses(const packet_info *pinfo, struct pair_of_addresses *a)
{
    copy_address_shallow(&a->src, &pinfo->net_src);
    copy_address_shallow(&a->dst, &pinfo->net_dst);
    return (a->src.type == AT_IPv4 || a->src.type == AT_IPv6) && a->src.type == a->dst.type;
}

static tap_packet_status ip_conversation(void *table, packet_info *pinfo, epan_dissect_t *edt _U_,
                                         const void *seen, tap_flags_t flags)
{
    struct pair_of_addresses a;
    ((conv_hash_t *)table)->flags = flags;
    if (!tap_is_datagram(seen) || !ip_addresses(pinfo, &a))
        return TAP_PACKET_DONT_REDRAW;
    add_conversation(table, pinfo, &a, &ip_conversations);
    return TAP_PACKET_REDRAW;
}

static tap_packet_status ip_endpoint(void *table, packet_info *pinfo, epan_dissect_t *edt _U_,
                                     const void *seen, tap_flags_t flags)
{
    struct pair_of_addresses a;
    ((conv_hash_t *)table)->flags = flags;
    if (!tap_is_datagram(seen) || !ip_addresses(pinfo, &a))
        return TAP_PACKET_DONT_REDRAW;
    add_endpoints(table, pinfo, &a, &ip_endpoints);
    return TAP_PACKET_REDRAW;
}

static tap_packet_status gid_conversation(void *table, packet_info *pinfo, epan_dissect_t *edt _U_,
                                          const void *seen, tap_flags_t flags)
{
    ((conv_hash_t *)table)->flags = flags;
    add_conversation(table, pinfo, seen, &gid_conversations);
    return TAP_PACKET_REDRAW;
}

static tap_packet_status gid_endpoint(void *table, packet_info *pinfo, epan_dissect_t *edt _U_,
                                      const void *seen, tap_flags_t flags)
{
    ((conv_hash_t *)table)->flags = flags;
    add_endpoints(table, pinfo, seen, &gid_endpoints);
    return TAP_PACKET_REDRAW;
}

/* ---- LIDs */

/*
 * Wireshark writes an address of type AT_IB as "LID: 1", which no filter understands. An address of
 * this type is the number.
 */
static int lid_to_text(const address *a, char *text, int size)
{
    uint16_t lid;
    memcpy(&lid, a->data, sizeof lid);
    return snprintf(text, (size_t)size, "%u", lid) + 1;
}

static int lid_text_size(const address *a _U_)
{
    return (int)sizeof "65535";
}

static void set_lid_address(packet_info *pinfo, address *a, uint16_t lid)
{
    uint16_t *kept = wmem_new(pinfo->pool, uint16_t);
    *kept = lid;
    set_address(a, address_lid, sizeof *kept, kept);
}

/* ---- queueing */

static void ib_addresses(packet_info *pinfo, const struct ib_packet *ib,
                         struct pair_of_addresses *a)
{
    if (ib->has_grh) {
        set_address(&a->src, AT_IPv6, GID_SIZE, ib->sgid);
        set_address(&a->dst, AT_IPv6, GID_SIZE, ib->dgid);
    } else {
        set_lid_address(pinfo, &a->src, ib->slid);
        set_lid_address(pinfo, &a->dst, ib->dlid);
    }
}

static bool is_ipoib_frame(const struct frame *f)
{
    return f && (f->p.ib.has_grh || f->p.ib.has_lrh) &&
           (f->p.classification.class == PAYLOAD_IPOIB ||
            f->p.classification.class == PAYLOAD_FRAGMENT);
}

static void hide(proto_item *ti)
{
    proto_item_set_generated(ti);
    proto_item_set_hidden(ti);
}

static void add_hidden_gid(proto_tree *tree, const struct frame *f, int offset)
{
    hide(proto_tree_add_item(tree, hf_ipoib_gid_addr, f->tvb, f->p.ib.grh_off + offset, GID_SIZE,
                             ENC_NA));
}

static void add_lid(proto_tree *tree, const struct frame *f, int offset)
{
    hide(proto_tree_add_item(tree, hf_ipoib_lid, f->tvb, offset, 2, ENC_BIG_ENDIAN));
}

/* Adds the addresses by which the frame is counted, for the filter of a row. */
static void add_addresses(proto_tree *tree, const struct frame *f)
{
    if (!proto_field_is_referenced(tree, hf_ipoib_gid_addr) &&
        !proto_field_is_referenced(tree, hf_ipoib_lid))
        return;
    proto_tree *ib = place_below(tree, proto_infiniband);
    if (f->p.ib.has_grh) {
        add_hidden_gid(ib, f, GRH_SGID);
        add_hidden_gid(ib, f, GRH_DGID);
    } else {
        add_lid(ib, f, LRH_SLID);
        add_lid(ib, f, LRH_DLID);
    }
}

void tap_conversations_queue(packet_info *pinfo, proto_tree *tree, const struct frame *f)
{
    if (!is_ipoib_frame(f))
        return;
    add_addresses(tree, f);
    if (!have_tap_listener(tap_gid))
        return;
    struct pair_of_addresses *a = wmem_new0(pinfo->pool, struct pair_of_addresses);
    ib_addresses(pinfo, &f->p.ib, a);
    tap_queue_packet(tap_gid, pinfo, a);
}

static void register_fields(void)
{
    static hf_register_info hf[] = {
        {&hf_ipoib_gid_addr,
         {"GID", "ipoib.gid.addr", FT_IPv6, BASE_NONE, NULL, 0,
          "source or destination GID of a packet with IPoIB", HFILL}},
        {&hf_ipoib_lid,
         {"LID", "ipoib.lid", FT_UINT16, BASE_DEC, NULL, 0,
          "source or destination LID of a packet with IPoIB and without a GRH", HFILL}},
    };
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
}

void tap_conversations_register(void)
{
    register_fields();
    proto_infiniband = proto_get_id_by_filter_name("infiniband");
    address_lid = address_type_dissector_register("AT_IPOIB_LID", "LID", lid_to_text, lid_text_size,
                                                  NULL, NULL, NULL, NULL, NULL);
    /* Wireshark remembers a tab by the short name; it finds no protocol "in name only" by it. */
    proto_ipoib_gid = proto_register_protocol("IP over InfiniBand by GID", "IPoIB GID",
                                              "ipoib.gid");
    proto_set_cant_toggle(proto_ipoib_gid);
    tap_gid = register_tap("ipoib.gid");
    register_conversation_table(proto_ipoib, TRUE, ip_conversation, ip_endpoint);
    register_conversation_table(proto_ipoib_gid, TRUE, gid_conversation, gid_endpoint);
}
