/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/cm.h"
#include "wire/encap.h"

const struct name cm_message_names[] = {
    {CM_REQ, "REQ"},           {CM_MRA, "MRA"},   {CM_REJ, "REJ"},   {CM_REP, "REP"},
    {CM_RTU, "RTU"},           {CM_DREQ, "DREQ"}, {CM_DREP, "DREP"}, {CM_SIDR_REQ, "SIDR_REQ"},
    {CM_SIDR_REP, "SIDR_REP"}, {CM_LAP, "LAP"},   {CM_APR, "APR"},   {0, NULL},
};

/* Type of the answered message: for MRA IBA 12.6.6, for REJ IBA 12.6.7. */
const struct name cm_delayed_names[] = {
    {CM_MRA_REQ, "REQ"}, {CM_MRA_REP, "REP"}, {2, "LAP"}, {0, NULL}};
const struct name cm_rejected_names[] = {
    {0, "REQ"}, {1, "REP"}, {2, "no message"}, {3, "LAP"}, {0, NULL}};

const struct name cm_transport_names[] = {
    {CM_TRANSPORT_RC, "RC"},
    {CM_TRANSPORT_UC, "UC"},
    {CM_TRANSPORT_RD, "RD"},
    {CM_TRANSPORT_EXTENDED, "extended"},
    {0, NULL},
};

/* IBA 12.6.7.2 */
const struct name cm_reject_names[] = {
    {1, "no QP available"},
    {2, "no EEC available"},
    {3, "no resources available"},
    {4, "timeout"},
    {5, "unsupported request"},
    {6, "invalid communication ID"},
    {7, "invalid communication instance"},
    {8, "invalid Service-ID"},
    {9, "invalid transport service type"},
    {10, "stale connection"},
    {11, "RDC does not exist"},
    {12, "primary remote port GID rejected"},
    {13, "primary remote port LID rejected"},
    {14, "invalid primary SL"},
    {15, "invalid primary traffic class"},
    {16, "invalid primary hop limit"},
    {17, "invalid primary packet rate"},
    {18, "alternate remote port GID rejected"},
    {19, "alternate remote port LID rejected"},
    {20, "invalid alternate SL"},
    {21, "invalid alternate traffic class"},
    {22, "invalid alternate hop limit"},
    {23, "invalid alternate packet rate"},
    {24, "port and CM redirection"},
    {25, "port redirection"},
    {26, "invalid path MTU"},
    {27, "insufficient responder resources"},
    {28, "consumer reject"},
    {29, "RNR retry count rejected"},
    {30, "duplicate local communication ID"},
    {31, "invalid class version"},
    {32, "invalid primary flow label"},
    {33, "invalid alternate flow label"},
    {0, NULL},
};

const struct name cm_service_names[] = {
    {SERVICE_UNKNOWN, "unknown service"},
    {SERVICE_IPOIB_RFC, "IPoIB connected mode (RFC 4755)"},
    {SERVICE_IPOIB_LINUX, "IPoIB connected mode (Linux form)"},
    {SERVICE_IETF_OTHER, "IETF block, not IPoIB"},
    {SERVICE_SDP, "SDP"},
    {SERVICE_RDMA_IP_TCP, "RDMA IP CM (TCP port space)"},
    {SERVICE_RDMA_IP_UDP, "RDMA IP CM (UDP port space)"},
    {SERVICE_RDMA_IP_IB, "RDMA IP CM (IB port space)"},
    {SERVICE_RDMA_IP_OTHER, "RDMA IP CM"},
    {SERVICE_RDMA_IPOIB, "RDMA IPoIB port space"},
    {SERVICE_LOCAL_OS, "local OS administered"},
    {SERVICE_SRP, "SRP"},
    {0, NULL},
};

/*
 * Service-ID blocks. First byte 0x01: IETF, 0x02: local OS (IBA A3.2.3). RDMA IP CM: prefix 00 00
 * 00 00 01, then IP protocol and port (IBA A11.2). SDP and RDMA_PS_IPOIB: port spaces 1 and 2 in
 * bytes 4 and 5 (IBA A4.5.1, Linux rdma_cm).
 */
enum cm_service cm_service_of(uint64_t id)
{
    uint8_t block = (uint8_t)(id >> 56);
    uint64_t type_reserved = id >> 24 & 0xffffffffu;

    if (block == 0x01)
        return type_reserved ? SERVICE_IETF_OTHER : SERVICE_IPOIB_RFC;
    if (block == 0x10)
        return type_reserved ? SERVICE_UNKNOWN : SERVICE_IPOIB_LINUX;
    if (block == 0x02)
        return SERVICE_LOCAL_OS;
    switch (id >> 16) {
    case 0x0001:
        return SERVICE_SDP;
    case 0x0002:
        return SERVICE_RDMA_IPOIB;
    case 0x0106:
        return SERVICE_RDMA_IP_TCP;
    case 0x0111:
        return SERVICE_RDMA_IP_UDP;
    case 0x013f:
        return SERVICE_RDMA_IP_IB;
    default:
        return id >> 24 == 1 ? SERVICE_RDMA_IP_OTHER : SERVICE_UNKNOWN;
    }
}

static uint32_t private_offset(enum cm_message m)
{
    switch (m) {
    case CM_REQ:
        return REQ_PRIVATE;
    case CM_MRA:
        return MRA_PRIVATE;
    case CM_REJ:
        return REJ_PRIVATE;
    case CM_REP:
        return REP_PRIVATE;
    case CM_RTU:
        return RTU_PRIVATE;
    case CM_DREQ:
        return DREQ_PRIVATE;
    case CM_DREP:
        return DREP_PRIVATE;
    case CM_SIDR_REQ:
        return SIDR_REQ_PRIVATE;
    case CM_SIDR_REP:
        return SIDR_REP_PRIVATE;
    case CM_LAP:
        return LAP_PRIVATE;
    case CM_APR:
        return APR_PRIVATE;
    }
    return 0;
}

static void decode_req(const uint8_t *p, struct cm *cm)
{
    cm->remote_comm_id = 0; /* reserved bytes in a REQ */
    cm->service_id = be64(p + REQ_SERVICE_ID);
    cm->qpn = be24(p + REQ_QPN);
    cm->transport = p[REQ_TRANSPORT] >> 1 & 3;
    cm->psn = be24(p + REQ_PSN);
    cm->retry_count = p[REQ_RETRY] & 7;
    cm->pkey = be16(p + REQ_PKEY);
    cm->response_timeout = p[REQ_TRANSPORT] >> 3;
    cm->path_mtu = p[REQ_PATH_MTU] >> 4;
    cm->local_lid = be16(p + REQ_PRIMARY_LOCAL_LID);
    cm->remote_lid = be16(p + REQ_PRIMARY_REMOTE_LID);
    cm->local_gid = p + REQ_PRIMARY_LOCAL_GID;
    cm->remote_gid = p + REQ_PRIMARY_REMOTE_GID;
    cm->local_ack_timeout = p[REQ_PRIMARY_ACK_TIMEOUT] >> 3;
    cm->alternate_local_lid = be16(p + REQ_ALTERNATE_LOCAL_LID);
    cm->alternate_remote_lid = be16(p + REQ_ALTERNATE_REMOTE_LID);
}

static void decode_sidr(const uint8_t *p, struct cm *cm)
{
    cm->remote_comm_id = 0;
    if (cm->message == CM_SIDR_REQ) {
        cm->pkey = be16(p + SIDR_REQ_PKEY);
        cm->service_id = be64(p + SIDR_REQ_SERVICE_ID);
    } else {
        cm->status = p[SIDR_REP_STATUS];
        cm->qpn = be24(p + SIDR_REP_QPN);
        cm->service_id = be64(p + SIDR_REP_SERVICE_ID);
    }
}

static void decode_fields(const uint8_t *p, struct cm *cm)
{
    switch (cm->message) {
    case CM_REQ:
        decode_req(p, cm);
        break;
    case CM_SIDR_REQ:
    case CM_SIDR_REP:
        decode_sidr(p, cm);
        break;
    case CM_MRA:
        cm->which = p[MRA_WHICH] >> 6;
        break;
    case CM_REJ:
        cm->which = p[REJ_WHICH] >> 6;
        cm->reason = be16(p + REJ_REASON);
        break;
    case CM_REP:
        cm->qpn = be24(p + REP_QPN);
        cm->psn = be24(p + REP_PSN);
        break;
    case CM_DREQ:
        cm->qpn = be24(p + DREQ_REMOTE_QPN);
        break;
    case CM_LAP:
        cm->qpn = be24(p + LAP_REMOTE_QPN);
        cm->alternate_local_lid = be16(p + LAP_ALTERNATE_LOCAL_LID);
        cm->alternate_remote_lid = be16(p + LAP_ALTERNATE_REMOTE_LID);
        break;
    case CM_APR:
        cm->status = p[APR_STATUS];
        break;
    case CM_RTU:
    case CM_DREP:
        break;
    }
    cm->service = cm_service_of(cm->service_id);
}

enum wire_result cm_decode(struct view v, struct cm *cm, bool *have_ids)
{
    memset(cm, 0, sizeof *cm);
    *have_ids = false;
    enum wire_result r = mad_decode(v, &cm->mad);
    if (r != WIRE_OK)
        return r;
    cm->message = (enum cm_message)cm->mad.attribute;
    cm->private_off = private_offset(cm->message);
    if (cm->mad.class != MAD_CLASS_CM || cm->private_off == 0)
        return WIRE_FOREIGN;
    cm->private_size = MAD_SIZE - cm->private_off;
    r = view_has(v, CM_LOCAL_COMM_ID, 8);
    if (r != WIRE_OK)
        return r;
    *have_ids = true;
    cm->local_comm_id = be32(v.p + CM_LOCAL_COMM_ID);
    cm->remote_comm_id = be32(v.p + CM_REMOTE_COMM_ID);
    r = view_has(v, 0, cm->private_off);
    if (r == WIRE_OK)
        decode_fields(v.p, cm);
    return r;
}

enum wire_result cm_private_decode(struct view v, const struct cm *cm, struct cm_private *p)
{
    enum wire_result r = view_has(v, cm->private_off, CM_PRIVATE_SIZE);
    if (r != WIRE_OK)
        return r;
    const uint8_t *d = v.p + cm->private_off;
    p->reserved = d[CM_PRIVATE_RESERVED];
    p->ud_qpn = be24(d + CM_PRIVATE_UD_QPN);
    p->recv_mtu = be32(d + CM_PRIVATE_RECV_MTU);
    return WIRE_OK;
}

bool cm_private_is_ipoib(struct view v, const struct cm *cm)
{
    struct view d = view_sub(v, cm->private_off, cm->private_size);
    if (cm->message != CM_REQ || view_has(d, 0, cm->private_size) != WIRE_OK)
        return false;
    bool has_others = d.p[CM_PRIVATE_RESERVED] != 0;
    for (uint32_t i = CM_PRIVATE_SIZE; i < cm->private_size; i++)
        has_others |= d.p[i] != 0;
    return !has_others && be24(d.p + CM_PRIVATE_UD_QPN) > QPN_GSI &&
           be32(d.p + CM_PRIVATE_RECV_MTU);
}

/*
 * SRP_LOGIN_REQ: opcode 0, 7 reserved bytes, tag (8), requested maximum IU length (4), 4 reserved,
 * buffer formats (2), ..., initiator port ID at 32 (16), target port ID at 48 (16).
 */
bool cm_private_is_srp(struct view v, const struct cm *cm)
{
    static const uint8_t zero[8];
    struct view d = view_sub(v, cm->private_off, cm->private_size);
    if (cm->message != CM_REQ || d.cap < 64 || memcmp(d.p, zero, 8) != 0)
        return false;
    uint32_t iu = be32(d.p + 16);
    return iu >= 64 && iu <= 1u << 20 && memcmp(d.p + 20, zero, 4) == 0 &&
           memcmp(d.p + 48, zero, 8) != 0;
}

uint32_t cm_connection_mtu(uint32_t a, uint32_t b)
{
    uint32_t m = a < b ? a : b;
    return m > ENCAP_SIZE ? m - ENCAP_SIZE : 0;
}
