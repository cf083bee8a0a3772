/* SPDX-License-Identifier: GPL-2.0-or-later */
/* States of a UD queue pair. See udqp.h. The attributes are those of IBA table 92. */
#include "hca/udqp.h"

int udqp_init(struct ibv_qp *qp, unsigned port, unsigned pkey_index, uint32_t qkey)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .pkey_index = (uint16_t)pkey_index,
                               .port_num = (uint8_t)port,
                               .qkey = qkey};

    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
}

int udqp_receive(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};

    return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

int udqp_send(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};

    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}
