/* SPDX-License-Identifier: GPL-2.0-or-later */
/* States of a UD queue pair (IBA 10.3.1, 11.2.5.2). The functions return 0 or an errno value. */
#ifndef IPOIB_HCA_UDQP_H
#define IPOIB_HCA_UDQP_H

#include <stdint.h>

#include <infiniband/verbs.h>

/* From Reset to Initialised: receives can be posted. A controlled QKEY needs CAP_NET_RAW. */
int udqp_init(struct ibv_qp *qp, unsigned port, unsigned pkey_index, uint32_t qkey);
/* From Initialised to Ready to Receive. */
int udqp_receive(struct ibv_qp *qp);
/* From Ready to Receive to Ready to Send. */
int udqp_send(struct ibv_qp *qp);

#endif
