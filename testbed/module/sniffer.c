// SPDX-License-Identifier: GPL-2.0
/*
 * vqib: flow steering of type sniffer. A UD queue pair with such a flow gets a copy of every packet
 * that the port sends or receives, from LRH to VCRC. Without a posted receive the packet is lost.
 */
#include <linux/slab.h>

#include "vqib.h"

struct vqib_sniffer {
	struct ib_flow flow;
	struct list_head list;	/* of the port, under sniffers_lock */
	struct vqib_end *end;
	struct rvt_qp *qp;
	struct vqib_rxq copies;
};

static DEFINE_SPINLOCK(sniffers_lock);

/* takes the next posted receive; false if there is none, or it is too small (it stays posted) */
static bool take_receive(struct rvt_qp *qp, u32 len)
{
	if (!(ib_rvt_state_ops[qp->state] & RVT_PROCESS_RECV_OK))
		return false;
	if (qp->r_flags & RVT_R_REUSE_SGE)
		qp->r_flags &= ~RVT_R_REUSE_SGE;
	else if (rvt_get_rwqe(qp, false) <= 0)
		return false;
	if (len <= qp->r_len)
		return true;
	qp->r_flags |= RVT_R_REUSE_SGE;
	return false;
}

static void complete_receive(struct rvt_qp *qp, struct vqib_pkt *p, u32 len)
{
	struct ib_wc wc = {
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV,
		.byte_len = len,
		.qp = &qp->ibqp,
		.port_num = qp->port_num,
	};

	rvt_copy_sge(qp, &qp->r_sge, p->data, len, true, false);
	rvt_put_ss(&qp->r_sge);
	if (!test_and_clear_bit(RVT_R_WRID_VALID, &qp->r_aflags))
		return;
	wc.wr_id = qp->r_wr_id;
	rvt_recv_cq(qp, &wc, true);
}

static void to_queue_pair(struct vqib_rxq *copies, struct vqib_pkt *p)
{
	struct vqib_sniffer *s = container_of(copies, struct vqib_sniffer, copies);
	u32 len = p->len + VQIB_CRCS;
	unsigned long flags;

	spin_lock_irqsave(&s->qp->r_lock, flags);
	if (take_receive(s->qp, len))
		complete_receive(s->qp, p, len);
	else
		vqib_count(s->end, VQIB_SNIFFER_MISSED);
	spin_unlock_irqrestore(&s->qp->r_lock, flags);
	kfree(p);
}

/* copies a packet that the HCA's port sends or receives; the caller keeps the packet */
void vqib_sniff(struct vqib_end *end, struct vqib_pkt *p)
{
	struct list_head *sniffers = &end->ppd->cpspec->sniffers;
	struct vqib_sniffer *s;
	struct vqib_pkt *copy;
	unsigned long flags;

	if (list_empty(sniffers))
		return;
	vqib_seal(p);
	spin_lock_irqsave(&sniffers_lock, flags);
	list_for_each_entry(s, sniffers, list) {
		copy = vqib_pkt_copy(p);
		if (!copy || !vqib_rxq_add(&s->copies, copy))
			vqib_count(end, VQIB_SNIFFER_MISSED);
	}
	spin_unlock_irqrestore(&sniffers_lock, flags);
}

/* ------------------------------------------------------- for qib's device operations */

struct ib_flow *vqib_create_flow(struct ib_qp *ibqp, struct ib_flow_attr *attr,
				 struct ib_udata *udata)
{
	struct vqib_sniffer *s;
	unsigned long flags;

	if (attr->type != IB_FLOW_ATTR_SNIFFER || attr->num_of_specs)
		return ERR_PTR(-EOPNOTSUPP);
	if (attr->flags || ibqp->qp_type != IB_QPT_UD)
		return ERR_PTR(-EINVAL);
	s = kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return ERR_PTR(-ENOMEM);
	s->qp = ibqp_to_rvtqp(ibqp);
	s->end = vqib_end_of(ppd_from_ibp(to_iport(ibqp->device, attr->port)));
	vqib_rxq_init(&s->copies, to_queue_pair);
	spin_lock_irqsave(&sniffers_lock, flags);
	list_add_tail(&s->list, &s->end->ppd->cpspec->sniffers);
	spin_unlock_irqrestore(&sniffers_lock, flags);
	return &s->flow;
}

int vqib_destroy_flow(struct ib_flow *flow)
{
	struct vqib_sniffer *s = container_of(flow, struct vqib_sniffer, flow);
	unsigned long flags;

	spin_lock_irqsave(&sniffers_lock, flags);
	list_del(&s->list);
	spin_unlock_irqrestore(&sniffers_lock, flags);
	vqib_rxq_stop(&s->copies);
	kfree(s);
	return 0;
}
