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

#include <epan/prefs.h>
#include <epan/reassemble.h>

#include "wire/encap.h"

static int hf_index = -1, hf_repeated = -1;
static int hf_segments = -1, hf_segment = -1, hf_overlap = -1, hf_conflict = -1, hf_tails = -1,
           hf_too_long = -1;
static int hf_error = -1, hf_count = -1, hf_in = -1, hf_length = -1, hf_data = -1;
static int ett_part = -1, ett_segment = -1, ett_segments = -1;

static const fragment_items items = {
    &ett_segment, &ett_segments, &hf_segments, &hf_segment, &hf_overlap, &hf_conflict, &hf_tails,
    &hf_too_long, &hf_error,     &hf_count,    &hf_in,      &hf_length,  &hf_data,     "packets"};

static ws_bool pref_reassemble = TRUE;
static guint pref_limit_mib = 256;

static reassembly_table table;

/*
 * The longest datagram is IPv6: a header of 40 bytes and 65,535 bytes (RFC 8200 §3; jumbograms are
 * not used over IPoIB). All packets of its message except the last fill the path MTU, which is at
 * least 256 bytes (IBA 9.4.1). A longer message, or one with more packets, is discarded.
 */
enum { MESSAGE_MAX = ENCAP_SIZE + 40 + 65535, PACKET_MIN = 256 };
enum { PARTS_MAX = (MESSAGE_MAX + PACKET_MIN - 1) / PACKET_MIN };

/*
 * Memory in bytes that the reassembly table takes for each part besides its data, and for each
 * message besides its parts. Upper estimates.
 */
enum { PART_COST = 320, MESSAGE_COST = 512 };

/* Incomplete messages, to limit the memory that they take. */
struct open_message {
    uint32_t number, parts, octets;
    bool shortened;
    GList link;
};
static GHashTable *open_by_number;
static GQueue open_messages = G_QUEUE_INIT; /* oldest first */
static uint64_t open_cost;

static uint64_t cost_of(const struct open_message *m)
{
    return (uint64_t)MESSAGE_COST + (uint64_t)m->parts * PART_COST + m->octets;
}

/* Message numbers are unique in a capture, so the key is the number only. */
static guint key_hash(gconstpointer key)
{
    return GPOINTER_TO_UINT(key);
}

static gint key_equal(gconstpointer a, gconstpointer b)
{
    return a == b;
}

static gpointer key_make(const packet_info *pinfo _U_, const guint32 id, const void *data _U_)
{
    return GUINT_TO_POINTER(id);
}

static void key_free(gpointer key _U_)
{
}

static const reassembly_table_functions key_functions = {key_hash, key_equal, key_make,
                                                         key_make, key_free,  key_free};

static void forget(packet_info *pinfo, uint32_t number)
{
    tvbuff_t *left = fragment_delete(&table, pinfo, number, NULL);
    if (left)
        tvb_free(left);
}

static struct open_message *find_open(uint32_t number)
{
    return g_hash_table_lookup(open_by_number, GUINT_TO_POINTER(number));
}

static struct open_message *open_message(uint32_t number)
{
    struct open_message *m = g_new0(struct open_message, 1);
    m->number = number;
    m->link.data = m;
    open_cost += cost_of(m);
    g_queue_push_tail_link(&open_messages, &m->link);
    g_hash_table_insert(open_by_number, GUINT_TO_POINTER(number), m);
    return m;
}

static void close_message(struct open_message *m)
{
    open_cost -= cost_of(m);
    g_queue_unlink(&open_messages, &m->link);
    g_hash_table_remove(open_by_number, GUINT_TO_POINTER(m->number)); /* frees m */
}

static void drop_message(packet_info *pinfo, uint32_t number)
{
    struct open_message *m = find_open(number);
    if (!m)
        return;
    forget(pinfo, number);
    close_message(m);
}

static void add_part(struct open_message *m, uint32_t octets)
{
    open_cost -= cost_of(m);
    m->parts++;
    m->octets += octets;
    open_cost += cost_of(m);
}

/*
 * True for a message that is too large for a datagram, or whose end moved twice. The second limit
 * exists because shorten() takes time for each part.
 */
static bool is_beyond_bounds(struct open_message *m, const struct stream_result *part)
{
    bool again = part->shortened && m->shortened;
    m->shortened |= part->shortened;
    return again || part->index >= PARTS_MAX || m->parts > PARTS_MAX || m->octets > MESSAGE_MAX;
}

/*
 * Discards the oldest incomplete messages until the memory limit holds. The current message stays;
 * its size is limited by is_beyond_bounds().
 */
static void make_room(packet_info *pinfo, const struct open_message *at_hand)
{
    uint64_t limit = (uint64_t)pref_limit_mib << 20;
    while (open_cost > limit && open_messages.head->data != at_hand)
        drop_message(pinfo, ((struct open_message *)open_messages.head->data)->number);
}

/*
 * Accounts for a new part. Returns false if the part must not be stored because its message is or
 * was discarded.
 */
static bool admit(packet_info *pinfo, const struct stream_result *part, uint32_t octets)
{
    if (part->evicted)
        drop_message(pinfo, part->evicted);
    struct open_message *m = find_open(part->number);
    if (!m && part->index != 0)
        return false; /* the message was discarded */
    if (!m)
        m = open_message(part->number);
    add_part(m, octets);
    if (is_beyond_bounds(m, part)) {
        drop_message(pinfo, part->number);
        return false;
    }
    make_room(pinfo, m);
    if (part->verdict == STREAM_WHOLE)
        close_message(m);
    return true;
}

static void table_open(void)
{
    reassembly_table_init(&table, &key_functions);
    open_by_number = g_hash_table_new_full(NULL, NULL, NULL, g_free);
}

static void table_close(void)
{
    reassembly_table_destroy(&table);
    if (open_by_number)
        g_hash_table_destroy(open_by_number);
    open_by_number = NULL;
    g_queue_init(&open_messages); /* the links were inside the messages that the hash table freed */
    open_cost = 0;
}

/* Adds a part to the table again after the table has discarded it. */
static void add_again(const packet_info *pinfo, uint32_t number, const fragment_item *part)
{
    packet_info then = *pinfo;
    then.num = part->frame;
    fragment_add_seq(&table, part->tvb_data, 0, &then, number, NULL, part->offset, part->len, TRUE,
                     0);
}

/*
 * Removes the parts after the message's last packet. They belong to another message whose First was
 * lost. The table cannot remove a single part, so this discards all of them and adds those of the
 * message again.
 */
static void shorten(packet_info *pinfo, const struct stream_result *last)
{
    fragment_head *head = fragment_get(&table, pinfo, last->number, NULL);
    GArray *parts = g_array_new(FALSE, FALSE, sizeof(fragment_item));
    for (const fragment_item *i = head ? head->next : NULL; i; i = i->next)
        if (i->offset < last->index) {
            fragment_item copy = *i;
            copy.tvb_data = tvb_clone(i->tvb_data);
            g_array_append_val(parts, copy);
        }
    forget(pinfo, last->number);
    for (guint i = 0; i < parts->len; i++) {
        const fragment_item *part = &g_array_index(parts, fragment_item, i);
        add_again(pinfo, last->number, part);
        tvb_free(part->tvb_data);
    }
    g_array_free(parts, TRUE);
}

/* Adds the part to the reassembly table in the first pass; only looks it up in later passes. */
static fragment_head *reassemble(tvbuff_t *tvb, const struct frame *f, packet_info *pinfo)
{
    const struct stream_result *p = &f->p.verdict.part;
    bool more = f->p.ib.position != IB_LAST;
    if (!pref_reassemble || p->verdict == STREAM_ORPHAN || p->verdict == STREAM_REPEATED)
        return NULL;
    if (tvb_captured_length(tvb) < tvb_reported_length(tvb))
        return NULL; /* truncated: the message cannot be reassembled */
    if (!pinfo->fd->visited && !admit(pinfo, p, tvb_reported_length(tvb)))
        return NULL;
    if (!pinfo->fd->visited && p->shortened)
        shorten(pinfo, p);
    return fragment_add_seq(&table, tvb, 0, pinfo, p->number, NULL, p->index,
                            tvb_reported_length(tvb), more, 0);
}

static void add_part_item(tvbuff_t *tvb, const struct frame *f, packet_info *pinfo,
                          proto_tree *tree, fragment_head *head)
{
    static const char *const names[] = {
        [IB_FIRST] = "First", [IB_MIDDLE] = "Middle", [IB_LAST] = "Last", [IB_ONLY] = "Only"};
    const struct stream_result *p = &f->p.verdict.part;
    proto_item *ti = proto_tree_add_item(tree, proto_ipoib, tvb, 0, -1, ENC_NA);
    proto_tree *sub = proto_item_add_subtree(ti, ett_part);

    col_set_str(pinfo->cinfo, COL_PROTOCOL, "IPoIB");
    proto_item_append_text(ti, ", %s packet of a message", names[f->p.ib.position]);
    col_append_fstr(pinfo->cinfo, COL_INFO, "%s packet of message", names[f->p.ib.position]);
    if (p->number) {
        col_append_fstr(pinfo->cinfo, COL_INFO, " %u", p->number);
        encap_add_message_number(sub, tvb, f);
        proto_item_set_generated(proto_tree_add_uint(sub, hf_index, tvb, 0, 0, p->index));
    } else {
        col_append_str(pinfo->cinfo, COL_INFO, " whose begin was not captured");
    }
    if (p->verdict == STREAM_REPEATED) {
        proto_item_set_generated(proto_tree_add_boolean(sub, hf_repeated, tvb, 0, 0, TRUE));
        col_append_str(pinfo->cinfo, COL_INFO, " (retransmission)");
    }
    if (f->p.verdict.connection)
        connection_add(sub, pinfo, tvb, f->p.verdict.connection);
    bool behind = head && p->index > head->datalen; /* the part is after the message's end */
    if (head && !behind && head->reassembled_in != 0 && head->reassembled_in != pinfo->num) {
        proto_item_set_generated(proto_tree_add_uint(sub, hf_in, tvb, 0, 0, head->reassembled_in));
        col_append_fstr(pinfo->cinfo, COL_INFO, ", reassembled in %u", head->reassembled_in);
    }
}

/*
 * Dissects a truncated First as far as it was captured, with the datagram length from its IP
 * header.
 */
static void sliced_first(tvbuff_t *tvb, const struct frame *f, packet_info *pinfo, proto_tree *tree)
{
    uint32_t told = encap_datagram_length(tvb_view(tvb)) + ENCAP_SIZE;
    uint32_t cap = tvb_captured_length(tvb), len = tvb_reported_length(tvb);
    encap_dissect(tvb_new_subset_length_caplen(tvb, 0, (int)cap, (int)(told > len ? told : len)),
                  pinfo, tree, f);
}

void message_dissect(tvbuff_t *tvb, struct frame *f, packet_info *pinfo, proto_tree *tree)
{
    fragment_head *head = reassemble(tvb, f, pinfo);

    if (head && f->p.verdict.part.verdict == STREAM_WHOLE && head->reassembled_in == pinfo->num) {
        tvbuff_t *whole = process_reassembled_data(tvb, 0, pinfo, "Reassembled IPoIB", head, &items,
                                                   NULL, tree);
        if (whole) {
            encap_dissect(whole, pinfo, tree, f);
            return;
        }
    }
    bool sliced = tvb_captured_length(tvb) < tvb_reported_length(tvb);
    if (sliced && f->p.verdict.part.index == 0 && f->p.verdict.part.number)
        sliced_first(tvb, f, pinfo, tree);
    else
        add_part_item(tvb, f, pinfo, tree, head);
}

static void register_preferences(void)
{
    module_t *m = prefs_register_protocol(proto_ipoib, NULL);
    prefs_register_bool_preference(
        m, "reassemble", "Reassemble connected-mode messages",
        "Put the First, Middle and Last packets of RC and UC SENDs together to one IPoIB datagram",
        &pref_reassemble);
    prefs_register_uint_preference(m, "reassembly_limit", "Memory for unfinished messages (MiB)",
                                   "Above this the oldest messages that lack packets are given up",
                                   10, &pref_limit_mib);
}

void message_register(void)
{
    static hf_register_info hf[] = {
        {&hf_index,
         {"Packet of the message", "ipoib.message.index", FT_UINT32, BASE_DEC, NULL, 0, "from 0",
          HFILL}},
        {&hf_repeated,
         {"Retransmission", "ipoib.message.retransmission", FT_BOOLEAN, BASE_NONE, NULL, 0, NULL,
          HFILL}},
        {&hf_segments,
         {"Packets of the message", "ipoib.segments", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_segment, {"Packet", "ipoib.segment", FT_FRAMENUM, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_overlap,
         {"Overlap", "ipoib.segment.overlap", FT_BOOLEAN, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_conflict,
         {"Overlap with other octets", "ipoib.segment.conflict", FT_BOOLEAN, BASE_NONE, NULL, 0,
          NULL, HFILL}},
        {&hf_tails,
         {"Several Lasts", "ipoib.segment.tails", FT_BOOLEAN, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_too_long,
         {"Packet too long", "ipoib.segment.toolong", FT_BOOLEAN, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_error,
         {"Reassembly error", "ipoib.segment.error", FT_FRAMENUM, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_count,
         {"Packet count", "ipoib.segment.count", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_in,
         {"Reassembled in", "ipoib.reassembled.in", FT_FRAMENUM, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_length,
         {"Reassembled length", "ipoib.reassembled.length", FT_UINT32, BASE_DEC, NULL, 0, "octets",
          HFILL}},
        {&hf_data,
         {"Reassembled data", "ipoib.reassembled.data", FT_BYTES, BASE_NONE, NULL, 0, NULL, HFILL}},
    };
    static int *ett[] = {&ett_part, &ett_segment, &ett_segments};
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    register_preferences();
    register_init_routine(table_open);
    register_cleanup_routine(table_close);
}
