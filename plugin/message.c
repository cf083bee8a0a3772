/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connected mode: reassembles the packets of a message (RC or UC SEND First, Middle, Last) into one
 * IPoIB datagram and dissects it at the packet that completes it. model/stream.c decides which
 * packet is which part, what is a retransmission and what is lost.
 */
#include "plugin/message.h"
#include "plugin/cm.h"
#include "plugin/encap.h"
#include "plugin/frame.h"
#include "plugin/protocol.h"
#include "plugin/reassembly.h"
#include "plugin/wanted.h"

#include <epan/prefs.h>
#include <epan/reassemble.h>

#include "wire/encap.h"

static int hf_ipoib_message_index = -1, hf_ipoib_message_retransmission = -1;
static int hf_ipoib_segments = -1, hf_ipoib_segment = -1, hf_ipoib_segment_overlap = -1,
           hf_ipoib_segment_conflict = -1, hf_ipoib_segment_tails = -1,
           hf_ipoib_segment_toolong = -1;
static int hf_ipoib_segment_error = -1, hf_ipoib_segment_count = -1, hf_ipoib_reassembled_in = -1,
           hf_ipoib_reassembled_length = -1, hf_ipoib_reassembled_data = -1;
static int ett_ipoib_part = -1, ett_ipoib_segment = -1, ett_ipoib_segments = -1;

static const fragment_items items = {&ett_ipoib_segment,         &ett_ipoib_segments,
                                     &hf_ipoib_segments,         &hf_ipoib_segment,
                                     &hf_ipoib_segment_overlap,  &hf_ipoib_segment_conflict,
                                     &hf_ipoib_segment_tails,    &hf_ipoib_segment_toolong,
                                     &hf_ipoib_segment_error,    &hf_ipoib_segment_count,
                                     &hf_ipoib_reassembled_in,   &hf_ipoib_reassembled_length,
                                     &hf_ipoib_reassembled_data, "packets"};

static ws_bool pref_reassemble = TRUE;
static guint pref_limit_mib = 256;

/* Stores the part in the first pass. Returns the message if it is complete. */
static const struct complete_message *reassemble(tvbuff_t *tvb, const struct frame *f,
                                                 packet_info *pinfo)
{
    const struct stream_result *p = &f->p.classification.fragment;
    if (!pref_reassemble || p->state == STREAM_ORPHAN || p->state == STREAM_REPEATED)
        return NULL;
    if (tvb_captured_length(tvb) < tvb_reported_length(tvb))
        return NULL; /* truncated: the message cannot be reassembled */
    if (!pinfo->fd->visited)
        reassembly_add(pinfo->num, p, f->p.ib.position == IB_LAST, tvb,
                       (uint64_t)pref_limit_mib << 20);
    return reassembly_find(p->number);
}

static void add_packets(const struct complete_message *w, tvbuff_t *whole, packet_info *pinfo,
                        proto_tree *tree)
{
    fragment_item *list = wmem_alloc0_array(pinfo->pool, fragment_item, w->count);
    fragment_head head = {.next = list,
                          .datalen = w->count - 1,
                          .reassembled_in = w->frame,
                          .flags = FD_DEFRAGMENTED | FD_BLOCKSEQUENCE | FD_DATALEN_SET};
    proto_item *ti;
    for (uint32_t i = 0; i < w->count; i++) {
        list[i].frame = w->packets[i].frame;
        list[i].offset = i;
        list[i].len = w->packets[i].length;
        list[i].next = i + 1 < w->count ? &list[i + 1] : NULL;
    }
    show_fragment_seq_tree(&head, &items, tree, pinfo, whole, &ti);
}

/* The message as a data source, with the list of its packets. */
static tvbuff_t *add_whole(const struct complete_message *w, tvbuff_t *tvb, packet_info *pinfo,
                           proto_tree *tree)
{
    tvbuff_t *whole = tvb_new_child_real_data(tvb, w->bytes, w->length, (gint)w->length);
    add_new_data_source(pinfo, whole, "Reassembled IPoIB");
    pinfo->fragmented = FALSE;
    for (uint32_t i = 0; i < w->count; i++)
        depend_on_frame(pinfo, w->packets[i].frame);
    if (tree_is_wanted(tree))
        add_packets(w, whole, pinfo, tree);
    return whole;
}

static void add_part_item(tvbuff_t *tvb, const struct frame *f, packet_info *pinfo,
                          proto_tree *tree, const struct complete_message *whole)
{
    static const char *const names[] = {
        [IB_FIRST] = "First", [IB_MIDDLE] = "Middle", [IB_LAST] = "Last", [IB_ONLY] = "Only"};
    const struct stream_result *p = &f->p.classification.fragment;
    proto_item *ti = proto_tree_add_item(tree, proto_ipoib, tvb, 0, -1, ENC_NA);
    proto_tree *sub = tree_is_wanted(tree) ? proto_item_add_subtree(ti, ett_ipoib_part) : NULL;

    col_set_str(pinfo->cinfo, COL_PROTOCOL, "IPoIB");
    proto_item_append_text(ti, ", %s packet of a message", names[f->p.ib.position]);
    col_append_fstr(pinfo->cinfo, COL_INFO, "%s packet of message", names[f->p.ib.position]);
    if (sub)
        encap_add_mode(sub, tvb, f);
    if (p->number) {
        col_append_fstr(pinfo->cinfo, COL_INFO, " %u", p->number);
        encap_add_message_number(sub, tvb, f);
        proto_item_set_generated(
            proto_tree_add_uint(sub, hf_ipoib_message_index, tvb, 0, 0, p->index));
    } else {
        col_append_str(pinfo->cinfo, COL_INFO, " whose First packet was not captured");
    }
    if (p->state == STREAM_REPEATED) {
        proto_item_set_generated(
            proto_tree_add_boolean(sub, hf_ipoib_message_retransmission, tvb, 0, 0, TRUE));
        col_append_str(pinfo->cinfo, COL_INFO, " (retransmission)");
    }
    if (f->p.classification.connection)
        connection_add(sub, pinfo, tvb, f->p.classification.connection);
    bool beyond = whole && p->index >= whole->count; /* the part is after the message's end */
    if (whole && !beyond && whole->frame != pinfo->num) {
        proto_item_set_generated(
            proto_tree_add_uint(sub, hf_ipoib_reassembled_in, tvb, 0, 0, whole->frame));
        col_append_fstr(pinfo->cinfo, COL_INFO, ", reassembled in %u", whole->frame);
    }
}

/*
 * Dissects a truncated First as far as it was captured, with the datagram length from its IP
 * header.
 */
static void sliced_first(tvbuff_t *tvb, const struct frame *f, packet_info *pinfo, proto_tree *tree)
{
    uint32_t reported = encap_datagram_length(tvb_view(tvb)) + ENCAP_SIZE;
    uint32_t cap = tvb_captured_length(tvb), len = tvb_reported_length(tvb);
    encap_dissect(
        tvb_new_subset_length_caplen(tvb, 0, (int)cap, (int)(reported > len ? reported : len)),
        pinfo, tree, f);
}

void message_dissect(tvbuff_t *tvb, struct frame *f, packet_info *pinfo, proto_tree *tree)
{
    const struct complete_message *whole = reassemble(tvb, f, pinfo);

    if (whole && whole->frame == pinfo->num) {
        encap_dissect(add_whole(whole, tvb, pinfo, tree), pinfo, tree, f);
        return;
    }
    bool sliced = tvb_captured_length(tvb) < tvb_reported_length(tvb);
    if (sliced && f->p.classification.fragment.index == 0 && f->p.classification.fragment.number)
        sliced_first(tvb, f, pinfo, tree);
    else
        add_part_item(tvb, f, pinfo, tree, whole);
}

static void register_preferences(void)
{
    module_t *m = prefs_register_protocol(proto_ipoib, NULL);
    prefs_register_bool_preference(
        m, "reassemble", "Reassemble connected-mode messages",
        "Put the First, Middle and Last packets of RC and UC SENDs together to one IPoIB datagram",
        &pref_reassemble);
    prefs_register_uint_preference(m, "reassembly_limit", "Memory for incomplete messages (MiB)",
                                   "Above this limit, the oldest incomplete messages are discarded",
                                   10, &pref_limit_mib);
}

void message_register(void)
{
    static hf_register_info hf[] = {
        {&hf_ipoib_message_index,
         {"Packet of the message", "ipoib.message.index", FT_UINT32, BASE_DEC, NULL, 0, "from 0",
          HFILL}},
        {&hf_ipoib_message_retransmission,
         {"Retransmission", "ipoib.message.retransmission", FT_BOOLEAN, BASE_NONE, NULL, 0, NULL,
          HFILL}},
        {&hf_ipoib_segments,
         {"Packets of the message", "ipoib.segments", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_segment,
         {"Packet", "ipoib.segment", FT_FRAMENUM, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_segment_overlap,
         {"Overlap", "ipoib.segment.overlap", FT_BOOLEAN, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_segment_conflict,
         {"Overlap with different bytes", "ipoib.segment.conflict", FT_BOOLEAN, BASE_NONE, NULL, 0,
          NULL, HFILL}},
        {&hf_ipoib_segment_tails,
         {"Several Lasts", "ipoib.segment.tails", FT_BOOLEAN, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_segment_toolong,
         {"Packet too long", "ipoib.segment.toolong", FT_BOOLEAN, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_segment_error,
         {"Reassembly error", "ipoib.segment.error", FT_FRAMENUM, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_segment_count,
         {"Packet count", "ipoib.segment.count", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_reassembled_in,
         {"Reassembled in", "ipoib.reassembled.in", FT_FRAMENUM, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_reassembled_length,
         {"Reassembled length", "ipoib.reassembled.length", FT_UINT32, BASE_DEC, NULL, 0, "bytes",
          HFILL}},
        {&hf_ipoib_reassembled_data,
         {"Reassembled data", "ipoib.reassembled.data", FT_BYTES, BASE_NONE, NULL, 0, NULL, HFILL}},
    };
    static int *ett[] = {&ett_ipoib_part, &ett_ipoib_segment, &ett_ipoib_segments};
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    register_preferences();
}
