// SPDX-License-Identifier: GPL-2.0
/*
 * vqib: a switch's performance management agent (IBA 16.1): ClassPortInfo, and PortCounters of
 * each port. The counters cannot be set, so they are never reset.
 */
#include <linux/slab.h>
#include <rdma/ib_pma.h>

#include "vqib.h"
#include "qib_mad.h"

#define GSI_QP 1

static u8 *bth_of(struct vqib_pkt *p)
{
	return p->data + VQIB_LRH;
}

/**
 * vqib_is_gsi - whether a packet without GRH is for the general services of the node
 * @p: the packet
 */
bool vqib_is_gsi(const struct vqib_pkt *p)
{
	const u8 *bth = p->data + VQIB_LRH;

	return !vqib_is_vl15(p) && vqib_lnh(p) == QIB_LRH_BTH && p->len == VQIB_SMP_PKT &&
	       bth[0] == IB_OPCODE_UD_SEND_ONLY &&
	       (get_unaligned_be32(bth + 4) & RVT_QPN_MASK) == GSI_QP;
}

static u64 value(const struct vqib_end *end, enum vqib_counter c)
{
	return atomic64_read(&end->count[c]);
}

/* a counter stops at its maximum; IBA 16.1.3.5 */
static u32 limited(u64 n, u32 maximum)
{
	return min_t(u64, n, maximum);
}

static __be16 port_counters(struct vqib_switch *sw, struct ib_pma_mad *m)
{
	struct ib_pma_portcounters *c = (struct ib_pma_portcounters *)m->data;
	u8 port = c->port_select;
	const struct vqib_end *end;

	if (port < 1 || port > sw->nports)
		return IB_SMP_INVALID_FIELD;
	end = &sw->port[port].end;
	memset(m->data, 0, sizeof(m->data));
	c->port_select = port;
	c->link_downed_counter = limited(value(end, VQIB_LINK_DOWNED), 0xff);
	c->port_rcv_errors = cpu_to_be16(limited(value(end, VQIB_BAD_VCRC) +
						 value(end, VQIB_BAD_LENGTH), 0xffff));
	c->port_rcv_switch_relay_errors = cpu_to_be16(limited(value(end, VQIB_NO_ROUTE), 0xffff));
	c->port_xmit_discards = cpu_to_be16(limited(value(end, VQIB_TX_DISCARDS), 0xffff));
	c->port_xmit_constraint_errors = limited(value(end, VQIB_TX_CONSTRAINT), 0xff);
	c->port_rcv_constraint_errors = limited(value(end, VQIB_RX_CONSTRAINT), 0xff);
	c->port_xmit_data = cpu_to_be32(limited(value(end, VQIB_TX_WORDS), U32_MAX));
	c->port_rcv_data = cpu_to_be32(limited(value(end, VQIB_RX_WORDS), U32_MAX));
	c->port_xmit_packets = cpu_to_be32(limited(value(end, VQIB_TX_PKTS), U32_MAX));
	c->port_rcv_packets = cpu_to_be32(limited(value(end, VQIB_RX_PKTS), U32_MAX));
	return 0;
}

static __be16 class_port_info(struct ib_pma_mad *m)
{
	struct ib_class_port_info *info = (struct ib_class_port_info *)m->data;

	memset(m->data, 0, sizeof(m->data));
	info->base_version = 1;
	info->class_version = 1;
	return 0;
}

static __be16 attribute(struct vqib_switch *sw, struct ib_pma_mad *m)
{
	if (m->mad_hdr.class_version != 1)
		return IB_SMP_UNSUP_VERSION;
	if (m->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_SMP_UNSUP_METH_ATTR;
	switch (m->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		return class_port_info(m);
	case IB_PMA_PORT_COUNTERS:
		return port_counters(sw, m);
	default:
		return IB_SMP_UNSUP_METH_ATTR;
	}
}

/**
 * vqib_switch_gsi - handles a MAD for the switch's general services: it has this agent only
 * @sw: the switch
 * @in: the port that it arrived on
 * @p: the packet, which is vqib_is_gsi(); this function frees or queues it
 */
void vqib_switch_gsi(struct vqib_switch *sw, unsigned int in, struct vqib_pkt *p)
{
	struct ib_pma_mad *m = (struct ib_pma_mad *)(p->data + VQIB_SMP_PKT - IB_MGMT_MAD_SIZE);
	u16 to = get_unaligned_be16(p->data + 6);
	u8 *bth = bth_of(p);

	if (m->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    m->mad_hdr.method & IB_MGMT_METHOD_RESP) {
		kfree(p);
		return;
	}
	m->mad_hdr.status = attribute(sw, m);
	m->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	p->sealed = false;	/* the packet changes; its CRCs have been checked */
	put_unaligned_be16(to, p->data + 2);
	put_unaligned_be16(sw->lid, p->data + 6);
	put_unaligned_be32(get_unaligned_be32(bth + VQIB_BTH + 4) & RVT_QPN_MASK, bth + 4);
	put_unaligned_be32(sw->psn++ & 0xffffff, bth + 8);
	put_unaligned_be32(GSI_QP, bth + VQIB_BTH + 4);
	if (to < VQIB_LFT_SIZE && sw->lft[to] != VQIB_NO_PORT)
		in = sw->lft[to];
	vqib_switch_out(sw, in, p, true);
}
