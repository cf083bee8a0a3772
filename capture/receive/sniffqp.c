/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queue pair of a sniffer. See sniffqp.h. */
#include "capture/receive/sniffqp.h"

#include <errno.h>
#include <sys/random.h>

/*
 * A Q_Key of the UD queue pair, to which nothing is sent. Nobody else can know it, and so put
 * frames into the capture. The high bit would make it a controlled one, which needs a capability.
 */
static uint32_t make_qkey(void)
{
    uint32_t qkey = 0;

    while (getrandom(&qkey, sizeof(qkey), 0) != (ssize_t)sizeof(qkey) && errno == EINTR)
        ;
    return qkey & 0x7fffffff;
}

static int to_init(struct ibv_qp *qp, enum ibv_qp_type type, uint8_t port)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = port, .qkey = make_qkey()};
    int mask = IBV_QP_STATE | IBV_QP_PORT;

    if (type == IBV_QPT_UD)
        mask |= IBV_QP_PKEY_INDEX | IBV_QP_QKEY;
    return ibv_modify_qp(qp, &attr, mask);
}

static int to_rtr(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};

    return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

struct refusal sniffqp_create(const struct rxring *ring, enum ibv_qp_type type, struct ibv_qp **qp)
{
    struct ibv_qp_init_attr attr = rxring_qp_attr(ring, type);
    int error;

    *qp = ibv_create_qp(ring->pd, &attr);
    if (!*qp)
        return refused(REFUSED_QP, errno);
    if ((error = to_init(*qp, type, ring->device->port)) == 0 && (error = to_rtr(*qp)) == 0)
        return (struct refusal){.step = REFUSED_NOT};
    ibv_destroy_qp(*qp);
    *qp = NULL;
    return refused(REFUSED_STATE, error);
}
