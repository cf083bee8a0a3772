/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Communication management: the service of a connection, the IPoIB private data (RFC 4755 §6), the
 * handshake from REQ to DREP, and the MTU that both sides agreed on (RFC 4755 §5.1).
 */
#include "plugin/cm.h"
#include "plugin/frame.h"
#include "plugin/transaction.h"
#include "plugin/protocol.h"
#include "plugin/state.h"
#include "plugin/store.h"
#include "plugin/wanted.h"

#include "wire/cm.h"

static int hf_ipoib_cm_message = -1, hf_ipoib_cm_local_comm_id = -1,
           hf_ipoib_cm_remote_comm_id = -1, hf_ipoib_cm_service_id = -1,
           hf_ipoib_cm_service_id_qpn = -1, hf_ipoib_cm_service = -1;
static int hf_ipoib_cm_qpn = -1, hf_ipoib_cm_transport = -1, hf_ipoib_cm_reason = -1,
           hf_ipoib_cm_answers_delayed = -1, hf_ipoib_cm_answers_rejected = -1,
           hf_ipoib_cm_status = -1;
static int hf_ipoib_cm_reserved = -1, hf_ipoib_cm_ud_qpn = -1, hf_ipoib_cm_recv_mtu = -1,
           hf_ipoib_cm_mtu = -1;
static int hf_ipoib_connection = -1, hf_ipoib_connection_service = -1, hf_ipoib_connection_req = -1;
static int ett_ipoib_cm = -1, ett_ipoib_private = -1, ett_ipoib_connection = -1;

/* What the first pass knew of the connection at this message. */
struct cm_known {
    uint32_t connection; /* number; 0: not known */
    uint32_t mtu;
};

void connection_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, const struct connection *c)
{
    if (!tree_is_wanted(tree))
        return;
    proto_item *ti = proto_tree_add_uint(tree, hf_ipoib_connection, tvb, 0, 0, c->number);
    proto_tree *sub = proto_item_add_subtree(ti, ett_ipoib_connection);
    proto_item_set_generated(ti);
    proto_item_append_text(ti, " (%s)", names_find(cm_service_names, c->service));
    proto_item_set_generated(
        proto_tree_add_uint(sub, hf_ipoib_connection_service, tvb, 0, 0, c->service));
    if (c->req_frame && c->req_frame != pinfo->num)
        proto_item_set_generated(
            proto_tree_add_uint(sub, hf_ipoib_connection_req, tvb, 0, 0, c->req_frame));
}

void connection_name_foreign(packet_info *pinfo, const struct connection *c)
{
    if (!connection_is_ipoib(c))
        col_append_fstr(pinfo->cinfo, COL_INFO, " [%s]", names_find(cm_service_names, c->service));
}

static const struct cm_known *known(const struct frame *f, packet_info *pinfo)
{
    return store_find(pinfo->num, frame_key(f, DATA_CM));
}

void cm_observe(struct frame *f, packet_info *pinfo)
{
    const struct cm *cm = packet_cm(&f->p);
    if (!cm)
        return;
    const struct connection *c = f->p.classification.connection;
    if (pinfo->fd->visited) {
        const struct cm_known *k = known(f, pinfo);
        f->p.classification.connection = k ? state_connection(k->connection) : NULL;
    } else if (c) {
        const struct cm_known k = {c->number, connection_mtu(c)};
        store_share(pinfo->num, frame_key(f, DATA_CM), &k, sizeof k, alignof(struct cm_known));
    }
    f->cm_is_ipoib = packet_cm_is_ipoib(&f->p, cm);
}

/*
 * The key of a CM exchange: the port that assigned the communication ID, and the ID. Request and
 * response share both.
 */
static struct transaction_key exchange(enum transaction_kind kind, const struct port *owner,
                                       uint32_t comm_id)
{
    struct transaction_key k = {.subnet = port_interface(*owner), .kind = (uint8_t)kind};
    transaction_key_add_port(&k, *owner);
    transaction_key_add(&k, &comm_id, sizeof comm_id);
    return k;
}

static void note_request(const struct frame *f, packet_info *pinfo, const struct cm *cm,
                         enum transaction_kind kind)
{
    struct transaction_key k = exchange(kind, &f->p.src, cm->local_comm_id);
    transaction_request(pinfo, &k, (uint8_t)cm->message);
}

static void match_response(const struct frame *f, packet_info *pinfo, enum transaction_kind kind,
                           uint32_t comm_id)
{
    struct transaction_key k = exchange(kind, &f->p.dst, comm_id);
    transaction_response(pinfo, &k);
}

static void match_cm(const struct frame *f, packet_info *pinfo, const struct cm *cm)
{
    switch (cm->message) {
    case CM_REQ:
        note_request(f, pinfo, cm, TRANSACTION_CM_SETUP);
        break;
    case CM_REP:
        match_response(f, pinfo, TRANSACTION_CM_SETUP, cm->remote_comm_id);
        note_request(f, pinfo, cm, TRANSACTION_CM_READY);
        break;
    case CM_REJ:
        match_response(f, pinfo,
                       cm->which == 1   ? TRANSACTION_CM_READY
                       : cm->which == 3 ? TRANSACTION_CM_PATH
                                        : TRANSACTION_CM_SETUP,
                       cm->remote_comm_id);
        break;
    case CM_RTU:
        match_response(f, pinfo, TRANSACTION_CM_READY, cm->remote_comm_id);
        break;
    case CM_DREQ:
        note_request(f, pinfo, cm, TRANSACTION_CM_END);
        break;
    case CM_DREP:
        match_response(f, pinfo, TRANSACTION_CM_END, cm->remote_comm_id);
        break;
    case CM_LAP:
        note_request(f, pinfo, cm, TRANSACTION_CM_PATH);
        break;
    case CM_APR:
        match_response(f, pinfo, TRANSACTION_CM_PATH, cm->remote_comm_id);
        break;
    case CM_SIDR_REQ:
        note_request(f, pinfo, cm, TRANSACTION_SIDR);
        break;
    case CM_SIDR_REP:
        match_response(f, pinfo, TRANSACTION_SIDR, cm->local_comm_id);
        break;
    case CM_MRA:
        break;
    }
}

/* ---- dissection */

static void add_service_id(proto_tree *tree, tvbuff_t *tvb, int offset, enum cm_service service)
{
    proto_item *ti = proto_tree_add_item(tree, hf_ipoib_cm_service_id, tvb, offset, 8,
                                         ENC_BIG_ENDIAN);
    proto_item_append_text(ti, " (%s)", names_find(cm_service_names, service));
    if (cm_service_is_ipoib(service))
        proto_tree_add_item(tree, hf_ipoib_cm_service_id_qpn, tvb, offset + 5, 3, ENC_BIG_ENDIAN);
    proto_item_set_generated(
        proto_tree_add_uint(tree, hf_ipoib_cm_service, tvb, offset, 8, service));
}

/*
 * Is the private data shown? For REQ and REP always, because they must contain IPoIB's private
 * data; for other messages only if it is not all zero.
 */
static bool has_private(const struct cm *cm, struct view mad)
{
    static const uint8_t zero[CM_PRIVATE_SIZE];
    if (view_has(mad, cm->private_off, CM_PRIVATE_SIZE) != WIRE_OK)
        return false;
    return cm->message == CM_REQ || cm->message == CM_REP ||
           memcmp(mad.p + cm->private_off, zero, sizeof zero) != 0;
}

static bool shows_private(const struct mad_payload *m)
{
    return has_private(&m->cm, m->bytes) && m->private_result == WIRE_OK;
}

static void add_private(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb,
                        const struct mad_payload *m)
{
    int o = (int)m->cm.private_off;
    if (!shows_private(m))
        return;
    proto_tree *sub = proto_tree_add_subtree(tree, tvb, o, CM_PRIVATE_SIZE, ett_ipoib_private, NULL,
                                             "IPoIB private data");
    proto_tree_add_item(sub, hf_ipoib_cm_reserved, tvb, o + CM_PRIVATE_RESERVED, 1, ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf_ipoib_cm_ud_qpn, tvb, o + CM_PRIVATE_UD_QPN, 3, ENC_BIG_ENDIAN);
    proto_tree_add_item(sub, hf_ipoib_cm_recv_mtu, tvb, o + CM_PRIVATE_RECV_MTU, 4, ENC_BIG_ENDIAN);
    col_append_fstr(pinfo->cinfo, COL_INFO, ", Receive MTU %u", m->private.recv_mtu);
}

static void add_req(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, const struct cm *cm,
                    enum cm_service service)
{
    add_service_id(tree, tvb, REQ_SERVICE_ID, service);
    proto_tree_add_item(tree, hf_ipoib_cm_qpn, tvb, REQ_QPN, 3, ENC_BIG_ENDIAN);
    proto_tree_add_uint(tree, hf_ipoib_cm_transport, tvb, REQ_TRANSPORT, 1, cm->transport);
    /* The name of an IPoIB service is too long for the column; the tree has it. */
    col_append_fstr(
        pinfo->cinfo, COL_INFO, " %s %s, QPN 0x%06x", names_find(cm_transport_names, cm->transport),
        cm_service_is_ipoib(service) ? "IPoIB" : names_find(cm_service_names, service), cm->qpn);
}

/*
 * The UD QPN of the private data, and the one to which a REQ is addressed. They follow the MTUs,
 * because a narrow column has no room for all.
 */
static void append_ud_qpns(packet_info *pinfo, const struct frame *f, enum cm_service service)
{
    const struct mad_payload *m = &f->p.mad;
    if (f->cm_is_ipoib && shows_private(m))
        col_append_fstr(pinfo->cinfo, COL_INFO, ", UD QPN 0x%06x", m->private.ud_qpn);
    if (m->cm.message == CM_REQ && cm_service_is_ipoib(service))
        col_append_fstr(pinfo->cinfo, COL_INFO, " to 0x%06x", cm_service_qpn(m->cm.service_id));
}

static void add_rej(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, const struct cm *cm)
{
    const char *reason = names_find(cm_reject_names, cm->reason),
               *which = names_find(cm_rejected_names, cm->which);
    proto_tree_add_uint(tree, hf_ipoib_cm_answers_rejected, tvb, REJ_WHICH, 1, cm->which);
    proto_tree_add_item(tree, hf_ipoib_cm_reason, tvb, REJ_REASON, 2, ENC_BIG_ENDIAN);
    col_append_fstr(pinfo->cinfo, COL_INFO, " of %s, reason %u (%s)", which, cm->reason,
                    reason ? reason : "unknown");
}

static void add_body(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, const struct cm *cm,
                     enum cm_service service)
{
    switch (cm->message) {
    case CM_REQ:
        add_req(tree, pinfo, tvb, cm, service);
        break;
    case CM_REP:
        proto_tree_add_item(tree, hf_ipoib_cm_qpn, tvb, REP_QPN, 3, ENC_BIG_ENDIAN);
        col_append_fstr(pinfo->cinfo, COL_INFO, ", QPN 0x%06x", cm->qpn);
        break;
    case CM_REJ:
        add_rej(tree, pinfo, tvb, cm);
        break;
    case CM_MRA:
        proto_tree_add_uint(tree, hf_ipoib_cm_answers_delayed, tvb, MRA_WHICH, 1, cm->which);
        break;
    case CM_DREQ:
        proto_tree_add_item(tree, hf_ipoib_cm_qpn, tvb, DREQ_REMOTE_QPN, 3, ENC_BIG_ENDIAN);
        break;
    case CM_LAP:
        proto_tree_add_item(tree, hf_ipoib_cm_qpn, tvb, LAP_REMOTE_QPN, 3, ENC_BIG_ENDIAN);
        break;
    case CM_APR:
        proto_tree_add_item(tree, hf_ipoib_cm_status, tvb, APR_STATUS, 1, ENC_BIG_ENDIAN);
        break;
    case CM_SIDR_REQ:
        add_service_id(tree, tvb, SIDR_REQ_SERVICE_ID, service);
        break;
    case CM_SIDR_REP:
        add_service_id(tree, tvb, SIDR_REP_SERVICE_ID, service);
        proto_tree_add_item(tree, hf_ipoib_cm_status, tvb, SIDR_REP_STATUS, 1, ENC_BIG_ENDIAN);
        proto_tree_add_item(tree, hf_ipoib_cm_qpn, tvb, SIDR_REP_QPN, 3, ENC_BIG_ENDIAN);
        break;
    case CM_RTU:
    case CM_DREP:
        break;
    }
}

static void add_ids(proto_tree *tree, tvbuff_t *tvb, const struct cm *cm)
{
    bool remote = cm->message != CM_REQ && cm->message != CM_SIDR_REQ && cm->message != CM_SIDR_REP;
    proto_tree_add_item(tree, hf_ipoib_cm_message, tvb, MAD_ATTRIBUTE, 2, ENC_BIG_ENDIAN);
    proto_tree_add_item(tree, hf_ipoib_cm_local_comm_id, tvb, CM_LOCAL_COMM_ID, 4, ENC_BIG_ENDIAN);
    if (remote)
        proto_tree_add_item(tree, hf_ipoib_cm_remote_comm_id, tvb, CM_REMOTE_COMM_ID, 4,
                            ENC_BIG_ENDIAN);
}

static void add_receive_mtu(proto_tree *tree, const struct frame *f, packet_info *pinfo,
                            tvbuff_t *tvb)
{
    const struct cm_known *k = known(f, pinfo);
    if (!k || !k->mtu)
        return;
    proto_item_set_generated(proto_tree_add_uint(tree, hf_ipoib_cm_mtu, tvb, 0, 0, k->mtu));
    col_append_fstr(pinfo->cinfo, COL_INFO, ", IPoIB MTU %u", k->mtu);
}

static void add_all(proto_tree *tree, struct frame *f, packet_info *pinfo, tvbuff_t *tvb,
                    const struct cm *cm)
{
    const struct connection *c = f->p.classification.connection;
    enum cm_service service = c ? c->service : cm->service;
    add_body(tree, pinfo, tvb, cm, service);
    if (f->cm_is_ipoib)
        add_private(tree, pinfo, tvb, &f->p.mad);
    if (c) {
        connection_add(tree, pinfo, tvb, c);
        if (cm->message != CM_REQ)
            connection_name_foreign(pinfo, c);
        add_receive_mtu(tree, f, pinfo, tvb);
    }
    append_ud_qpns(pinfo, f, service);
}

static void add_cm_tree(proto_tree *tree, struct frame *f, packet_info *pinfo, const struct cm *cm)
{
    tvbuff_t *tvb = frame_payload(f);
    proto_tree *sub = proto_tree_add_subtree_format(
        tree, tvb, 0, (int)MIN(f->p.ib.payload.cap, (uint32_t)MAD_SIZE), ett_ipoib_cm, NULL,
        "IPoIB: Communication Management, %s", names_find(cm_message_names, cm->message));
    col_clear_fence(pinfo->cinfo, COL_INFO);
    col_add_fstr(pinfo->cinfo, COL_INFO, "CM %s", names_find(cm_message_names, cm->message));
    add_ids(sub, tvb, cm);
    if (f->p.mad.result != WIRE_OK)
        return;
    add_all(sub, f, pinfo, tvb, cm);
    transaction_show(pinfo, sub, tvb);
}

void cm_dissect(struct frame *f, packet_info *pinfo, proto_tree *tree)
{
    const struct cm *cm = &f->p.mad.cm;
    if (f->p.mad.kind != MAD_KIND_CM || !f->p.mad.has_header)
        return;
    if (f->p.mad.result == WIRE_OK && !pinfo->fd->visited)
        match_cm(f, pinfo, cm);
    if (tree_is_wanted(tree) || info_is_wanted(pinfo))
        add_cm_tree(tree, f, pinfo, cm);
}

void cm_register(void)
{
    static hf_register_info hf[] = {
        {&hf_ipoib_cm_message,
         {"Message", "ipoib.cm.message", FT_UINT16, BASE_HEX, VALS_OF(cm_message_names), 0, NULL,
          HFILL}},
        {&hf_ipoib_cm_local_comm_id,
         {"Local communication ID", "ipoib.cm.local_comm_id", FT_UINT32, BASE_HEX, NULL, 0, NULL,
          HFILL}},
        {&hf_ipoib_cm_remote_comm_id,
         {"Remote communication ID", "ipoib.cm.remote_comm_id", FT_UINT32, BASE_HEX, NULL, 0, NULL,
          HFILL}},
        {&hf_ipoib_cm_service_id,
         {"Service-ID", "ipoib.cm.service_id", FT_UINT64, BASE_HEX, NULL, 0, "RFC 4755 section 3.5",
          HFILL}},
        {&hf_ipoib_cm_service_id_qpn,
         {"UD QPN of the Service-ID", "ipoib.cm.service_id.qpn", FT_UINT24, BASE_HEX, NULL, 0, NULL,
          HFILL}},
        {&hf_ipoib_cm_service,
         {"Service", "ipoib.cm.service", FT_UINT8, BASE_DEC, VALS_OF(cm_service_names), 0, NULL,
          HFILL}},
        {&hf_ipoib_cm_qpn,
         {"QPN", "ipoib.cm.qpn", FT_UINT24, BASE_HEX, NULL, 0, "of the connection", HFILL}},
        {&hf_ipoib_cm_transport,
         {"Transport", "ipoib.cm.transport", FT_UINT8, BASE_DEC, VALS_OF(cm_transport_names), 0,
          NULL, HFILL}},
        {&hf_ipoib_cm_answers_delayed,
         {"Refers to", "ipoib.cm.answers", FT_UINT8, BASE_DEC, VALS_OF(cm_delayed_names), 0, NULL,
          HFILL}},
        {&hf_ipoib_cm_answers_rejected,
         {"Refers to", "ipoib.cm.answers", FT_UINT8, BASE_DEC, VALS_OF(cm_rejected_names), 0, NULL,
          HFILL}},
        {&hf_ipoib_cm_reason,
         {"Reason", "ipoib.cm.reason", FT_UINT16, BASE_DEC, VALS_OF(cm_reject_names), 0,
          "IBA 12.6.7.2", HFILL}},
        {&hf_ipoib_cm_status,
         {"Status", "ipoib.cm.status", FT_UINT8, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_cm_reserved,
         {"Reserved", "ipoib.cm.reserved", FT_UINT8, BASE_HEX, NULL, 0, "RFC 4755 section 6",
          HFILL}},
        {&hf_ipoib_cm_ud_qpn,
         {"UD QPN", "ipoib.cm.ud_qpn", FT_UINT24, BASE_HEX, NULL, 0, "RFC 4755 section 6", HFILL}},
        {&hf_ipoib_cm_recv_mtu,
         {"Receive MTU", "ipoib.cm.recv_mtu", FT_UINT32, BASE_DEC, NULL, 0,
          "bytes; RFC 4755 section 5.1", HFILL}},
        {&hf_ipoib_cm_mtu,
         {"IPoIB MTU of the connection", "ipoib.cm.mtu", FT_UINT32, BASE_DEC, NULL, 0,
          "bytes; RFC 4755 section 5.1", HFILL}},
        {&hf_ipoib_connection,
         {"Connection", "ipoib.connection", FT_UINT32, BASE_DEC, NULL, 0, "number in this capture",
          HFILL}},
        {&hf_ipoib_connection_service,
         {"Service", "ipoib.connection.service", FT_UINT8, BASE_DEC, VALS_OF(cm_service_names), 0,
          NULL, HFILL}},
        {&hf_ipoib_connection_req,
         {"Request in", "ipoib.connection.req", FT_FRAMENUM, BASE_NONE, NULL, 0, NULL, HFILL}},
    };
    static int *ett[] = {&ett_ipoib_cm, &ett_ipoib_private, &ett_ipoib_connection};
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}
