/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds CM messages. See cm_message.h. */
#include "probe/link/cm_message.h"

#include <string.h>

#include "wire/put.h"

enum { CM_SEND = 0x03, CLASS_VERSION = 2 }; /* IBA 13.4.5, 12.11 */
/* the values that Linux's rdma_cm uses */
enum { RESPONSE_TIMEOUT = 20, CM_RETRIES = 15, SUBNET_LOCAL = 1 << 3 };

static void put_req(uint8_t *p, const struct cm_fields *f)
{
    put64(p + REQ_SERVICE_ID, f->service_id);
    put24(p + REQ_QPN, f->qpn);
    p[REQ_TRANSPORT] = (uint8_t)(RESPONSE_TIMEOUT << 3 |
                                 (f->uc ? CM_TRANSPORT_UC : CM_TRANSPORT_RC) << 1 | 1);
    put24(p + REQ_PSN, f->psn);
    p[REQ_RETRY] = (uint8_t)(RESPONSE_TIMEOUT << 3 | f->retry_count);
    put16(p + REQ_PKEY, f->pkey);
    p[REQ_PATH_MTU] = (uint8_t)(f->path_mtu << 4);
    p[REQ_PATH_MTU + 1] = CM_RETRIES << 4;
    put16(p + REQ_PRIMARY_LOCAL_LID, f->local_lid);
    put16(p + REQ_PRIMARY_REMOTE_LID, f->remote_lid);
    memcpy(p + REQ_PRIMARY_LOCAL_GID, f->local_gid, 16);
    memcpy(p + REQ_PRIMARY_REMOTE_GID, f->remote_gid, 16);
    p[REQ_PRIMARY_ACK_TIMEOUT - 1] = (uint8_t)(f->sl << 4 | SUBNET_LOCAL);
    p[REQ_PRIMARY_ACK_TIMEOUT] = (uint8_t)(f->ack_timeout << 3);
}

static uint32_t private_begin(enum cm_message m)
{
    switch (m) {
    case CM_REQ:
        return REQ_PRIVATE;
    case CM_REP:
        return REP_PRIVATE;
    case CM_REJ:
        return REJ_PRIVATE;
    default:
        return MAD_SIZE;
    }
}

/* In REQ, REP and REJ the private data comes last (IBA 12.6.5 to 12.6.8). */
static void put_private(uint8_t *p, enum cm_message m, const struct cm_fields *f)
{
    uint32_t begin = private_begin(m), room = MAD_SIZE - begin;
    uint32_t n = f->private_size < room ? f->private_size : room;
    if (n)
        memcpy(p + begin, f->private_data, n);
}

void cm_message_make(uint8_t mad[MAD_SIZE], enum cm_message m, const struct cm_fields *f)
{
    memset(mad, 0, MAD_SIZE);
    mad[MAD_BASE_VERSION] = 1;
    mad[MAD_CLASS] = MAD_CLASS_CM;
    mad[MAD_CLASS_VERSION] = CLASS_VERSION;
    mad[MAD_METHOD] = CM_SEND;
    put16(mad + MAD_ATTRIBUTE, m);
    put32(mad + CM_LOCAL_COMM_ID, f->local_id);
    if (m != CM_REQ)
        put32(mad + CM_REMOTE_COMM_ID, f->remote_id);
    if (m == CM_REQ)
        put_req(mad, f);
    else if (m == CM_REP) {
        put24(mad + REP_QPN, f->qpn);
        put24(mad + REP_PSN, f->psn);
    } else if (m == CM_REJ)
        put16(mad + REJ_REASON, f->reason); /* rejected message: REJ_WHICH is 0 for a REQ */
    else if (m == CM_DREQ)
        put24(mad + DREQ_REMOTE_QPN, f->remote_qpn);
    put_private(mad, m, f);
}
