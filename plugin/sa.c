/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Subnet administration (IBA 15.2): joins and leaves, path queries, and the SA's responses. Codes
 * are shown with their names, and MTU codes in bytes. Tables may span several RMPP segments: their
 * records are found by the AttributeOffset, and a record is shown in the packet in which it ends.
 */
#include "plugin/sa.h"
#include "plugin/frame.h"
#include "plugin/mgid.h"
#include "plugin/transaction.h"
#include "plugin/protocol.h"
#include "plugin/state.h"
#include "plugin/store.h"
#include "plugin/wanted.h"

#include "wire/mgid.h"
#include "wire/sa.h"

static int hf_ipoib_sa_status = -1, hf_ipoib_sa_method = -1, hf_ipoib_sa_attribute = -1,
           hf_ipoib_sa_component_mask = -1, hf_ipoib_sa_tid = -1;
static int hf_ipoib_sa_rmpp_type = -1, hf_ipoib_sa_rmpp_segment = -1,
           hf_ipoib_sa_attribute_offset = -1;
static int ett_ipoib_sa = -1;

/* What one segment of a table needs from earlier segments. */
struct table_part {
    uint32_t skip;          /* bytes of this segment before the first record that starts in it */
    uint32_t carried, from; /* bytes in carry, and the frame that has them */
    uint8_t *carry;         /* start of the record that ends in this segment */
};

/* A table of which not all segments have been seen. */
struct shown_table {
    uint32_t next_segment;
    uint32_t carried, from;
    uint8_t carry[512];
};

static wmem_map_t *sa_tables;

/* ---- tables */

static uint32_t record_stride(const struct sa *sa)
{
    uint32_t size = sa_record_size(sa->mad.attribute);
    return sa->record_stride >= size ? sa->record_stride : (size + 7u) & ~7u;
}

static guint table_hash(gconstpointer p)
{
    return transaction_key_hash(p);
}

static gboolean table_equal(gconstpointer a, gconstpointer b)
{
    return transaction_key_equal(a, b);
}

static struct shown_table *find_table(const struct transaction_key *k, bool make)
{
    struct shown_table *t = wmem_map_lookup(sa_tables, k);
    if (!t && make) {
        t = wmem_new0(wmem_file_scope(), struct shown_table);
        wmem_map_insert(sa_tables, wmem_memdup(wmem_file_scope(), k, sizeof *k), t);
    }
    return t;
}

/*
 * First pass only: computes what this segment needs from the segment before, and stores what the
 * next one needs.
 */
static void table_walk(struct table_part *part, uint32_t frame, const struct transaction_key *k,
                       const struct sa *sa)
{
    struct shown_table *t = find_table(k, true);
    uint32_t stride = record_stride(sa), n = sa->data.len;
    /* bytes of the current record in earlier segments */
    uint32_t begin = (sa->segment - 1) * SA_DATA_SIZE % stride;

    part->skip = begin ? MIN(stride - begin, n) : 0;
    if (begin && t->next_segment == sa->segment && t->carried == begin && stride - begin <= n) {
        part->carried = begin;
        part->from = t->from;
        part->carry = wmem_memdup(wmem_file_scope(), t->carry, begin);
    }
    uint32_t rest = n - part->skip - (n - part->skip) / stride * stride;
    bool room = sa->data.cap == n && rest <= sizeof t->carry;
    t->carried = room ? rest : 0;
    t->from = frame;
    if (room)
        memcpy(t->carry, sa->data.p + n - rest, rest);
    t->next_segment = sa->segment + 1;
}

static void add_carried(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb,
                        const struct table_part *part, const struct sa *sa)
{
    uint32_t stride = part->carried + part->skip;
    if (!part->carried || sa->data.cap < part->skip || stride < sa_record_size(sa->mad.attribute))
        return;
    uint8_t *record = wmem_alloc(pinfo->pool, stride);
    memcpy(record, part->carry, part->carried);
    memcpy(record + part->carried, sa->data.p, part->skip);
    tvbuff_t *whole = tvb_new_child_real_data(tvb, record, stride, (int)stride);
    add_new_data_source(pinfo, whole, "SA record over two segments");
    sa_record_add(tree, pinfo, whole, 0, sa);
}

/* First pass only. Runs even if the tree is not shown, because later packets need the data. */
static void keep_table_part(packet_info *pinfo, const struct transaction_key *k,
                            const struct sa *sa)
{
    bool part = sa->mad.method == SA_GET_TABLE_RESP && sa_record_size(sa->mad.attribute) &&
                sa->rmpp_type == RMPP_TYPE_DATA && sa->segment > 0;
    if (part)
        table_walk(store_add(pinfo->num, DATA_TABLE, sizeof(struct table_part),
                             alignof(struct table_part)),
                   pinfo->num, k, sa);
}

/* A record that ends in this segment needs the segment before it too. */
static void depend_on_segment(packet_info *pinfo)
{
    const struct table_part *part = store_find(pinfo->num, DATA_TABLE);
    if (part && part->carried)
        depend_on_frame(pinfo, part->from);
}

static void add_table(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, const struct sa *sa)
{
    uint32_t size = sa_record_size(sa->mad.attribute), stride = record_stride(sa);
    const struct table_part none = {0}, *part = NULL;
    bool several = sa->rmpp_type == RMPP_TYPE_DATA; /* else nothing says how many there are */
    if (several && sa->segment > 0)
        part = store_find(pinfo->num, DATA_TABLE);
    if (!part)
        part = &none;
    add_carried(tree, pinfo, tvb, part, sa);
    for (uint32_t o = part->skip; o + size <= sa->data.cap && o + stride <= sa->data.len + 7;
         o += stride) {
        sa_record_add(tree, pinfo, tvb, (int)(SA_DATA + o), sa);
        if (!several)
            break;
    }
}

/* ---- the Info column */

static const char *mc_verb(packet_info *pinfo, const struct sa *sa)
{
    uint32_t request = transaction_request_value(pinfo);
    switch (sa->mad.method) {
    case SA_SET:
        return "Join";
    case SA_DELETE:
        return "Leave";
    case SA_DELETE_RESP:
        return sa->mad.status ? "Leave refused:" : "Left";
    case SA_GET_RESP:
        return request == SA_SET ? (sa->mad.status ? "Join refused:" : "Joined") : "Group";
    default:
        return "Group";
    }
}

static const char *group_name(packet_info *pinfo, const uint8_t *gid)
{
    const char *ip = mgid_group_text(pinfo, gid);
    return ip ? wmem_strdup_printf(pinfo->pool, "%s (%s)", gid_text(pinfo, gid), ip)
              : gid_text(pinfo, gid);
}

/* Requests except queries, and responses. A query that found no record has an empty response. */
static bool describes_group(packet_info *pinfo, const struct sa *sa)
{
    static const uint8_t none[GID_SIZE];
    if (sa->mad.method == SA_GET_RESP && sa->mad.status &&
        transaction_request_value(pinfo) != SA_SET)
        return memcmp(mc_member_read(sa->data.p).mgid, none, sizeof none) != 0;
    return sa->mad.method != SA_GET;
}

/* The MLID is first, because narrow columns cut the end, and the request has the JoinState. */
static void info_mc_member(packet_info *pinfo, const struct sa *sa)
{
    struct mc_member m = mc_member_read(sa->data.p);
    bool has_mlid = !sa->mad.status && sa_component_is_valid(sa, MCM_HAS_MLID) && m.mlid;
    char text[80];
    col_add_fstr(pinfo->cinfo, COL_INFO, "%s %s", mc_verb(pinfo, sa),
                 sa_component_is_valid(sa, MCM_HAS_MGID) ? group_name(pinfo, m.mgid) : "any");
    if (has_mlid)
        col_append_fstr(pinfo->cinfo, COL_INFO, ", MLID 0x%04x", m.mlid);
    if (sa_component_is_valid(sa, MCM_HAS_JOIN_STATE) && m.join_state)
        col_append_fstr(pinfo->cinfo, COL_INFO, "%s %s", has_mlid ? "," : "",
                        join_state_text(m.join_state, text, sizeof text));
    if (sa->mad.status)
        return;
    if (sa_component_is_valid(sa, MCM_HAS_MTU))
        col_append_fstr(pinfo->cinfo, COL_INFO, ", MTU %s", sa_mtu_text(pinfo->pool, m.mtu));
    if (sa_component_is_valid(sa, MCM_HAS_RATE) && names_find(ib_rate_names, m.rate))
        col_append_fstr(pinfo->cinfo, COL_INFO, ", %s", names_find(ib_rate_names, m.rate));
    if (sa_component_is_valid(sa, MCM_HAS_QKEY))
        col_append_fstr(pinfo->cinfo, COL_INFO, ", Q_Key 0x%x", m.qkey);
}

static void info_path(packet_info *pinfo, const struct sa *sa)
{
    const uint8_t *p = sa->data.p;
    bool found = sa->mad.method & MAD_RESPONSE && !sa->mad.status;
    col_append_fstr(pinfo->cinfo, COL_INFO, " to %s", gid_text(pinfo, p + PATH_DGID));
    if (found)
        col_append_fstr(pinfo->cinfo, COL_INFO, ", LID %u, MTU %s", be16(p + PATH_DLID),
                        sa_mtu_text(pinfo->pool, p[PATH_MTU] & 0x3f));
    col_append_fstr(pinfo->cinfo, COL_INFO, "%s from %s", found ? "," : "",
                    gid_text(pinfo, p + PATH_SGID));
}

static void info_event(packet_info *pinfo, const struct sa *sa)
{
    const uint8_t *p = sa->data.p;
    bool notice = sa->mad.attribute == SA_NOTICE;
    uint16_t trap = be16(p + (notice ? NOTICE_TRAP : INFORM_TRAP));
    const char *name = names_find(notice_trap_names, trap);
    if (!notice)
        col_append_fstr(pinfo->cinfo, COL_INFO, " %s",
                        p[INFORM_SUBSCRIBE] ? "subscribe to" : "unsubscribe from");
    col_append_fstr(pinfo->cinfo, COL_INFO, " trap %u%s%s%s", trap, name ? " (" : "",
                    name ? name : "", name ? ")" : "");
    if (notice && trap_has_gid(trap))
        col_append_fstr(pinfo->cinfo, COL_INFO, " %s", group_name(pinfo, p + NOTICE_DETAILS_GID));
}

static void info(packet_info *pinfo, const struct sa *sa)
{
    if (!info_is_wanted(pinfo))
        return;
    const char *method = names_find(sa_method_names, sa->mad.method),
               *attribute = names_find(sa_attribute_names, sa->mad.attribute);
    uint32_t size = sa_record_size(sa->mad.attribute);
    bool table = sa->mad.method == SA_GET_TABLE_RESP || sa->mad.method == SA_GET_TABLE;
    bool record = size && sa->data.cap >= size && !table &&
                  !(sa->rmpp_type && sa->rmpp_type != RMPP_TYPE_DATA);

    if (!method)
        return;
    if (record && sa->mad.attribute == SA_MC_MEMBER_RECORD && describes_group(pinfo, sa)) {
        info_mc_member(pinfo, sa);
    } else {
        col_add_fstr(pinfo->cinfo, COL_INFO, "SA %s %s", method, attribute ? attribute : "");
        if (record && sa->mad.attribute == SA_PATH_RECORD)
            info_path(pinfo, sa);
        else if (record && (sa->mad.attribute == SA_NOTICE || sa->mad.attribute == SA_INFORM_INFO))
            info_event(pinfo, sa);
    }
    if (sa->rmpp_type)
        col_append_fstr(pinfo->cinfo, COL_INFO, ", %s segment %u",
                        names_find(rmpp_type_names, sa->rmpp_type)
                            ? names_find(rmpp_type_names, sa->rmpp_type)
                            : "RMPP",
                        sa->segment);
    if (sa->mad.status)
        col_append_fstr(pinfo->cinfo, COL_INFO, " [%s]", sa_status_name(sa->mad.status));
}

/* ---- the MAD */

static void add_mad_header(proto_tree *tree, tvbuff_t *tvb, const struct sa *sa)
{
    proto_item *ti;
    proto_tree_add_item(tree, hf_ipoib_sa_method, tvb, MAD_METHOD, 1, ENC_BIG_ENDIAN);
    proto_tree_add_item(tree, hf_ipoib_sa_attribute, tvb, MAD_ATTRIBUTE, 2, ENC_BIG_ENDIAN);
    proto_tree_add_item(tree, hf_ipoib_sa_tid, tvb, MAD_TID, 8, ENC_BIG_ENDIAN);
    ti = proto_tree_add_item(tree, hf_ipoib_sa_status, tvb, MAD_STATUS, 2, ENC_BIG_ENDIAN);
    proto_item_append_text(ti, " (%s)", sa_status_name(sa->mad.status));
}

static void add_sa_header(proto_tree *tree, tvbuff_t *tvb, const struct sa *sa)
{
    char text[256];
    proto_item *ti;
    if (sa->rmpp_type) {
        proto_tree_add_item(tree, hf_ipoib_sa_rmpp_type, tvb, RMPP_TYPE, 1, ENC_BIG_ENDIAN);
        proto_tree_add_item(tree, hf_ipoib_sa_rmpp_segment, tvb, RMPP_DATA1, 4, ENC_BIG_ENDIAN);
    }
    if (sa->record_stride || sa->mad.method == SA_GET_TABLE_RESP) {
        ti = proto_tree_add_item(tree, hf_ipoib_sa_attribute_offset, tvb, SA_ATTRIBUTE_OFFSET, 2,
                                 ENC_BIG_ENDIAN);
        proto_item_append_text(ti, " (%u bytes from record to record)", sa->record_stride);
    }
    ti = proto_tree_add_item(tree, hf_ipoib_sa_component_mask, tvb, SA_COMPONENT_MASK, 8,
                             ENC_BIG_ENDIAN);
    if (sa->mad.attribute == SA_MC_MEMBER_RECORD && sa->component_mask)
        proto_item_append_text(ti, " (%s)",
                               mc_component_text(sa->component_mask, text, sizeof text));
}

/* A transaction is identified by the requester's port and its transaction ID (IBA 13.4.6.4). */
static struct transaction_key sa_transaction_key(const struct frame *f, const struct sa *sa,
                                                 bool response)
{
    struct transaction_key k = {.subnet = f->p.at.interface, .kind = TRANSACTION_SA};
    transaction_key_add_port(&k, response ? f->p.dst : f->p.src);
    transaction_key_add(&k, &sa->mad.tid, sizeof sa->mad.tid);
    return k;
}

static void match_sa(packet_info *pinfo, const struct transaction_key *k, const struct sa *sa,
                     bool response)
{
    if (response && sa->rmpp_type != RMPP_TYPE_ACK)
        transaction_response(pinfo, k);
    else if (!response && (sa->rmpp_type == 0 || sa->rmpp_type == RMPP_TYPE_DATA))
        transaction_request(pinfo, k, sa->mad.method);
}

static void add_records(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, const struct sa *sa)
{
    uint32_t size = sa_record_size(sa->mad.attribute);
    if (!size)
        return;
    if (sa->mad.method == SA_GET_TABLE_RESP)
        add_table(tree, pinfo, tvb, sa);
    else if (sa->data.cap >= size)
        sa_record_add(tree, pinfo, tvb, SA_DATA, sa);
}

static void add_sa_tree(proto_tree *tree, packet_info *pinfo, const struct frame *f,
                        const struct sa *sa)
{
    tvbuff_t *tvb = frame_payload(f);
    proto_tree *sub = proto_tree_add_subtree(tree, tvb, 0,
                                             (int)MIN(f->p.ib.payload.cap, (uint32_t)MAD_SIZE),
                                             ett_ipoib_sa, NULL, "IPoIB: Subnet Administration");
    add_mad_header(sub, tvb, sa);
    if (f->p.mad.result != WIRE_OK)
        return;
    add_sa_header(sub, tvb, sa);
    add_records(sub, pinfo, tvb, sa);
    transaction_show(pinfo, sub, tvb);
}

void sa_dissect(struct frame *f, packet_info *pinfo, proto_tree *tree)
{
    const struct sa *sa = &f->p.mad.sa;
    if (f->p.mad.kind != MAD_KIND_SA || !f->p.mad.has_header)
        return;
    bool response = (sa->mad.method & MAD_RESPONSE) != 0;
    /* The requester sends an RMPP ACK of a response with the response's method (IBA 13.6.2.2). */
    bool from_requester = !response || sa->rmpp_type == RMPP_TYPE_ACK;
    /* the built-in dissector reports a truncated frame as malformed */
    col_clear_fence(pinfo->cinfo, COL_INFO);
    if (f->p.mad.result == WIRE_OK && !pinfo->fd->visited) {
        struct transaction_key k = sa_transaction_key(f, sa, !from_requester);
        match_sa(pinfo, &k, sa, response);
        keep_table_part(pinfo, &k, sa);
    }
    depend_on_segment(pinfo);
    if (tree_is_wanted(tree))
        add_sa_tree(tree, pinfo, f, sa);
    info(pinfo, sa);
}

void sa_register(void)
{
    static hf_register_info hf[] = {
        {&hf_ipoib_sa_status,
         {"Status", "ipoib.sa.status", FT_UINT16, BASE_HEX, NULL, 0, "IBA 15.2.1.2", HFILL}},
        {&hf_ipoib_sa_method,
         {"Method", "ipoib.sa.method", FT_UINT8, BASE_HEX, VALS_OF(sa_method_names), 0, NULL,
          HFILL}},
        {&hf_ipoib_sa_attribute,
         {"Attribute", "ipoib.sa.attribute", FT_UINT16, BASE_HEX, VALS_OF(sa_attribute_names), 0,
          NULL, HFILL}},
        {&hf_ipoib_sa_tid,
         {"Transaction ID", "ipoib.sa.tid", FT_UINT64, BASE_HEX, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_component_mask,
         {"Component mask", "ipoib.sa.component_mask", FT_UINT64, BASE_HEX, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_rmpp_type,
         {"RMPP type", "ipoib.sa.rmpp.type", FT_UINT8, BASE_DEC, VALS_OF(rmpp_type_names), 0, NULL,
          HFILL}},
        {&hf_ipoib_sa_rmpp_segment,
         {"RMPP segment", "ipoib.sa.rmpp.segment", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_attribute_offset,
         {"AttributeOffset", "ipoib.sa.attribute_offset", FT_UINT16, BASE_DEC, NULL, 0,
          "units of 8 bytes", HFILL}},
    };
    static int *ett[] = {&ett_ipoib_sa};
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    sa_tables = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), table_hash,
                                       table_equal);
}
