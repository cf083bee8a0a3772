// SPDX-License-Identifier: GPL-2.0
/*
 * vqib: a switch. It forwards by its linear and multicast forwarding tables, which the SM fills
 * by the agent in switch_sma.c, and enforces partitions at the ports that the SM configures so.
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "vqib.h"

#define MAX_HOPS 32	/* a real switch's lifetime limit drops packets in a loop */

/* in the octet of PortInfo with OperationalVLs; IBA 14.2.5.6 */
#define PEI 8		/* PartitionEnforcementInbound */
#define PEO 4		/* PartitionEnforcementOutbound */

/*
 * The table of a switch's port is a copy of the table of the HCA on it, so the membership bit is
 * ignored here: packets of a limited member pass. The receiving HCA decides whether two members
 * may communicate.
 */
static bool pkey_in_table(const struct vqib_switch_port *port, const struct vqib_pkt *p)
{
	u16 pkey = get_unaligned_be16(p->data + vqib_bth_at(p) + 2) & 0x7fff;
	unsigned int i;

	for (i = 0; i < VQIB_PKEYS; i++)
		if (pkey && (be16_to_cpu(port->pkeys[i]) & 0x7fff) == pkey)
			return true;
	return false;
}

static bool pkey_ok(const struct vqib_switch_port *port, const struct vqib_pkt *p, u8 direction)
{
	if (vqib_is_vl15(p) || !(port->info.operationalvl_pei_peo_fpi_fpo & direction))
		return true;
	if (!(vqib_lnh(p) & 2) || p->len < vqib_bth_at(p) + VQIB_BTH)
		return true;	/* raw: FilterRaw, not P_Keys */
	return pkey_in_table(port, p);
}

/**
 * vqib_switch_out - sends a packet out of a port
 * @sw: the switch
 * @port: the port's number; if there is no such port, the packet is dropped
 * @p: the packet; this function frees or queues it
 * @enters: the switch itself has created the packet
 */
void vqib_switch_out(struct vqib_switch *sw, unsigned int port, struct vqib_pkt *p, bool enters)
{
	struct vqib_switch_port *out;

	if (port < 1 || port > sw->nports) {
		kfree(p);
		return;
	}
	out = &sw->port[port];
	if (!pkey_ok(out, p, PEO)) {
		vqib_count(&out->end, VQIB_TX_CONSTRAINT);
		kfree(p);
		return;
	}
	vqib_send(&out->end, p, enters);
}

/* takes p over */
static void forward_multicast(struct vqib_switch *sw, struct vqib_end *in, struct vqib_pkt *p,
			      u16 dlid)
{
	u32 entry = dlid - VQIB_LFT_SIZE;
	u32 ports = entry < VQIB_MFT_SIZE ? sw->mft[entry] & ~BIT(in->port) : 0;
	struct vqib_pkt *copy;
	unsigned int i;

	for (i = 1; i <= sw->nports; i++) {
		copy = ports & BIT(i) ? vqib_pkt_copy(p) : NULL;
		if (copy)
			vqib_switch_out(sw, i, copy, false);
	}
	kfree(p);
}

/* takes p over */
static void forward(struct vqib_switch *sw, struct vqib_end *in, struct vqib_pkt *p, u16 dlid)
{
	if (dlid >= VQIB_LFT_SIZE) {
		forward_multicast(sw, in, p, dlid);
	} else if (dlid && dlid <= be16_to_cpu(sw->info.lin_top) && sw->lft[dlid] != VQIB_NO_PORT) {
		vqib_switch_out(sw, sw->lft[dlid], p, false);
	} else {
		vqib_count(in, VQIB_NO_ROUTE);
		kfree(p);
	}
}

/* receives a packet for the switch itself; takes p over */
static void own(struct vqib_switch *sw, struct vqib_end *in, struct vqib_pkt *p)
{
	bool smp = vqib_is_vl15(p) && vqib_lnh(p) == QIB_LRH_BTH && p->len == VQIB_SMP_PKT;

	if (!smp && !vqib_is_gsi(p)) {
		vqib_count(in, VQIB_NO_ROUTE);
		kfree(p);
	} else if (!vqib_icrc_ok(p)) {
		vqib_count(in, VQIB_BAD_ICRC);
		kfree(p);
	} else if (smp) {
		vqib_switch_smp(sw, in->port, p);
	} else {
		vqib_switch_gsi(sw, in->port, p);
	}
}

static void switch_receive(struct vqib_rxq *q, struct vqib_pkt *p)
{
	struct vqib_end *in = p->at;
	struct vqib_switch *sw = in->sw;
	struct vqib_switch_port *port = &sw->port[in->port];
	int mtu = ib_mtu_enum_to_int(port->info.neighbormtu_mastersmsl >> 4);
	u16 dlid;

	if (!vqib_link_layer_ok(in, p, mtu)) {
		kfree(p);
		return;
	}
	if (!pkey_ok(port, p, PEI)) {
		vqib_count(in, VQIB_RX_CONSTRAINT);
		kfree(p);
		return;
	}
	dlid = get_unaligned_be16(p->data + 2);
	if (dlid == be16_to_cpu(IB_LID_PERMISSIVE) || (sw->lid && dlid == sw->lid)) {
		own(sw, in, p);
	} else if (++p->hops > MAX_HOPS) {
		vqib_count(in, VQIB_NO_ROUTE);
		kfree(p);
	} else {
		forward(sw, in, p, dlid);
	}
}

struct vqib_switch *vqib_switch_create(unsigned int number, unsigned int nports)
{
	struct vqib_switch *sw = kzalloc(sizeof(*sw), GFP_KERNEL);
	unsigned int i;

	if (!sw)
		return NULL;
	sw->number = number;
	sw->nports = nports;
	sw->port = kcalloc(nports + 1, sizeof(*sw->port), GFP_KERNEL);
	sw->lft = vmalloc(VQIB_LFT_SIZE);
	sw->mft = kcalloc(VQIB_MFT_SIZE, sizeof(*sw->mft), GFP_KERNEL);
	if (!sw->port || !sw->lft || !sw->mft) {
		kfree(sw->port);
		vfree(sw->lft);
		kfree(sw->mft);
		kfree(sw);
		return NULL;
	}
	memset(sw->lft, VQIB_NO_PORT, VQIB_LFT_SIZE);
	vqib_rxq_init(&sw->rxq, switch_receive);
	INIT_WORK(&sw->notify, vqib_switch_notify);
	for (i = 0; i <= nports; i++) {
		struct vqib_end *end = &sw->port[i].end;

		snprintf(end->name, sizeof(end->name), "s%u.%u", number, i);
		end->sw = sw;
		end->port = i;
		vqib_end_init(end, &sw->rxq);
	}
	vqib_switch_init_info(sw);
	return sw;
}

/* no packet can arrive any more: the HCAs' links are down already */
void vqib_switch_stop(struct vqib_switch *sw)
{
	unsigned int i;

	for (i = 1; i <= sw->nports; i++)
		vqib_link_cable(&sw->port[i].end, false);
	vqib_rxq_stop(&sw->rxq);
	cancel_work_sync(&sw->notify);
}

void vqib_switch_free(struct vqib_switch *sw)
{
	unsigned int i;

	for (i = 0; i <= sw->nports; i++)
		vqib_end_stop(&sw->port[i].end);
	kfree(sw->port);
	vfree(sw->lft);
	kfree(sw->mft);
	kfree(sw);
}
