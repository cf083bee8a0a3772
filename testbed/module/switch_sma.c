// SPDX-License-Identifier: GPL-2.0
/*
 * vqib: a switch's subnet management agent (IBA 14.2): directed routes, the attributes, trap 128.
 * The switch has a base port 0. M_Keys are stored, but not checked.
 */
#include <linux/slab.h>

#include "vqib.h"
#include "qib_mad.h"

#define SWITCH_GUID 0x0011750000001000ULL	/* of the first switch; +0x100 each */
#define DIRECTION cpu_to_be16(0x8000)		/* D bit of a directed route's status */
#define CAPS (BIT(7) | BIT(6))			/* InboundEnforcementCap, OutboundEnforcementCap */
#define PHYS_DISABLED 3				/* PortPhysicalState in a Set; IBA 14.2.5.6 */

#define TRAP_PORT_CHANGE 128	/* a port of the switch has gone up or down; IBA 14.2.5.1 */

/* Notice; IBA 13.4.8.2 */
struct notice {
	u8 type;
	u8 producer[3];
	__be16 trap, issuer, toggle;
	__be16 lid;
} __packed;

static struct ib_smp *smp_of(struct vqib_pkt *p)
{
	return (struct ib_smp *)(p->data + VQIB_SMP_PKT - IB_MGMT_MAD_SIZE);
}

/* -------------------------------------------------------------- attributes */

/* Each returns the attribute; for a Set it first writes it. Invalid values set a status bit. */

static __be16 node_description(struct vqib_switch *sw, struct ib_smp *s, bool set)
{
	if (set)
		return IB_SMP_UNSUP_METH_ATTR;
	memcpy(s->data, sw->desc, sizeof(s->data));
	return 0;
}

static __be16 node_info(struct vqib_switch *sw, struct ib_smp *s, bool set, unsigned int in)
{
	struct ib_node_info *info = (struct ib_node_info *)s->data;

	if (set)
		return IB_SMP_UNSUP_METH_ATTR;
	memset(s->data, 0, sizeof(s->data));
	info->base_version = 1;
	info->class_version = 1;
	info->node_type = RDMA_NODE_IB_SWITCH;
	info->num_ports = sw->nports;
	info->sys_guid = sw->guid;
	info->node_guid = sw->guid;
	info->port_guid = sw->guid;
	info->partition_cap = cpu_to_be16(VQIB_PKEYS);
	info->device_id = cpu_to_be16(0x5153);
	info->revision = cpu_to_be32(1);
	info->local_port_num = in;
	info->vendor_id[1] = 0x11;
	info->vendor_id[2] = 0x75;
	return 0;
}

static __be16 switch_info(struct vqib_switch *sw, struct ib_smp *s, bool set)
{
	struct vqib_switch_info *to = (struct vqib_switch_info *)s->data, *info = &sw->info;

	if (set) {
		info->lin_top = to->lin_top;
		info->mcast_top = to->mcast_top;
		info->def_port = to->def_port;
		info->def_mcast_prim = to->def_mcast_prim;
		info->def_mcast_not = to->def_mcast_not;
		info->life_state = to->life_state & ~VQIB_PORT_STATE_CHANGE;
		if (to->life_state & VQIB_PORT_STATE_CHANGE)	/* writing 1 resets it */
			atomic_set(&sw->state_changed, 0);
	}
	memset(s->data, 0, sizeof(s->data));
	memcpy(s->data, info, sizeof(*info));
	if (atomic_read(&sw->state_changed))
		to->life_state |= VQIB_PORT_STATE_CHANGE;
	return 0;
}

static __be16 guid_info(struct vqib_switch *sw, struct ib_smp *s, u32 block)
{
	memset(s->data, 0, sizeof(s->data));
	if (block)
		return IB_SMP_INVALID_FIELD;
	memcpy(s->data, &sw->guid, sizeof(sw->guid));
	return 0;
}

/* the components that every port has */
static void set_common(struct ib_port_info *info, const struct ib_port_info *to)
{
	u8 vls = to->operationalvl_pei_peo_fpi_fpo & 0xf0;

	if (!vls)	/* no change */
		vls = info->operationalvl_pei_peo_fpi_fpo & 0xf0;
	info->operationalvl_pei_peo_fpi_fpo = vls | (to->operationalvl_pei_peo_fpi_fpo & 0x0f);
	info->mkey = to->mkey;
	info->mkey_lease_period = to->mkey_lease_period;
	info->neighbormtu_mastersmsl = to->neighbormtu_mastersmsl;
	info->vl_high_limit = to->vl_high_limit;
	info->vlstallcnt_hoqlife = to->vlstallcnt_hoqlife;
	info->localphyerrors_overrunerrors = to->localphyerrors_overrunerrors;
	info->clientrereg_resv_subnetto = to->clientrereg_resv_subnetto & 0x1f;
	if (to->link_width_enabled == 0xff)
		info->link_width_enabled = info->link_width_supported;
	else if (to->link_width_enabled)
		info->link_width_enabled = to->link_width_enabled;
	if (to->linkspeedactive_enabled & 15)
		info->linkspeedactive_enabled =
			(info->linkspeedactive_enabled & 0xf0) | (to->linkspeedactive_enabled & 15);
}

static void set_port0(struct vqib_switch *sw, const struct ib_port_info *to)
{
	struct ib_port_info *info = &sw->port[0].info;
	u16 lid = be16_to_cpu(to->lid);

	info->gid_prefix = to->gid_prefix;
	info->sm_lid = to->sm_lid;
	if (lid && lid < VQIB_LFT_SIZE) {
		info->lid = to->lid;
		sw->lid = lid;
	}
}

static __be16 set_link(struct vqib_end *end, const struct ib_port_info *to)
{
	u8 log = to->linkspeed_portstate & 15, phys = to->portphysstate_linkdown >> 4;

	switch (log) {
	case IB_PORT_NOP:
		if (phys)
			vqib_link_bounce(end, phys == PHYS_DISABLED);
		return 0;
	case IB_PORT_DOWN:
		vqib_link_bounce(end, phys == PHYS_DISABLED);
		return 0;
	case IB_PORT_ARMED:
	case IB_PORT_ACTIVE:
		vqib_link_set(end, log);
		return 0;
	default:
		return IB_SMP_INVALID_FIELD;
	}
}

static __be16 port_info(struct vqib_switch *sw, struct ib_smp *s, bool set, u32 n, unsigned int in)
{
	struct ib_port_info *info = (struct ib_port_info *)s->data;
	struct vqib_switch_port *port;
	__be16 status = 0;

	if (n > sw->nports)
		return IB_SMP_INVALID_FIELD;
	port = &sw->port[n];
	if (set) {
		set_common(&port->info, info);
		if (n)
			status = set_link(&port->end, info);
		else
			set_port0(sw, info);
	}
	*info = port->info;
	info->local_port_num = in;
	info->linkspeed_portstate = (info->linkspeed_portstate & 0xf0) | port->end.log;
	info->portphysstate_linkdown = port->end.phys << 4 | 2;	/* LinkDownDefault: Polling */
	return status;
}

/* sets or reads a block of a table */
static __be16 table(struct ib_smp *s, bool set, void *block, size_t octets)
{
	if (set)
		memcpy(block, s->data, octets);
	memset(s->data, 0, sizeof(s->data));
	memcpy(s->data, block, octets);
	return 0;
}

static __be16 pkey_table(struct vqib_switch *sw, struct ib_smp *s, bool set, u32 mod)
{
	u32 port = mod >> 16;

	if (mod & 0xffff || port > sw->nports)
		return IB_SMP_INVALID_FIELD;
	return table(s, set, sw->port[port].pkeys, sizeof(sw->port[port].pkeys));
}

static __be16 sl_to_vl(struct vqib_switch *sw, struct ib_smp *s, bool set, u32 mod)
{
	u32 out = mod & 0xff;	/* one table for all input ports */

	if (out > sw->nports)
		return IB_SMP_INVALID_FIELD;
	return table(s, set, sw->port[out].sl2vl, sizeof(sw->port[out].sl2vl));
}

static __be16 vl_arbitration(struct vqib_switch *sw, struct ib_smp *s, bool set, u32 mod)
{
	u32 port = mod & 0xffff, block = mod >> 16;

	if (port > sw->nports || block < 1 || block > 4)
		return IB_SMP_INVALID_FIELD;
	return table(s, set, sw->port[port].vlarb[block - 1], sizeof(sw->port[port].vlarb[0]));
}

static __be16 linear_table(struct vqib_switch *sw, struct ib_smp *s, bool set, u32 block)
{
	if (block >= VQIB_LFT_SIZE / 64)
		return IB_SMP_INVALID_FIELD;
	return table(s, set, sw->lft + block * 64, 64);
}

/* 32 entries for 16 ports, those from 16 * position on */
static __be16 multicast_table(struct vqib_switch *sw, struct ib_smp *s, bool set, u32 mod)
{
	u32 block = mod & 0x1ff, shift = (mod >> 28) * 16, i;
	__be16 *ports = (__be16 *)s->data;

	if (block >= VQIB_MFT_SIZE / 32 || shift > 16)
		return IB_SMP_INVALID_FIELD;
	for (i = 0; i < 32; i++) {
		u32 *entry = &sw->mft[block * 32 + i];

		if (set)
			*entry = (*entry & ~(0xffffu << shift)) |
				 (u32)be16_to_cpu(ports[i]) << shift;
		ports[i] = cpu_to_be16(*entry >> shift);
	}
	return 0;
}

static __be16 attribute(struct vqib_switch *sw, struct ib_smp *s, bool set, unsigned int in)
{
	u32 mod = be32_to_cpu(s->attr_mod);

	switch (s->attr_id) {
	case IB_SMP_ATTR_NODE_DESC:
		return node_description(sw, s, set);
	case IB_SMP_ATTR_NODE_INFO:
		return node_info(sw, s, set, in);
	case IB_SMP_ATTR_SWITCH_INFO:
		return switch_info(sw, s, set);
	case IB_SMP_ATTR_GUID_INFO:
		return guid_info(sw, s, mod);
	case IB_SMP_ATTR_PORT_INFO:
		return port_info(sw, s, set, mod & 0xff, in);
	case IB_SMP_ATTR_PKEY_TABLE:
		return pkey_table(sw, s, set, mod);
	case IB_SMP_ATTR_SL_TO_VL_TABLE:
		return sl_to_vl(sw, s, set, mod);
	case IB_SMP_ATTR_VL_ARB_TABLE:
		return vl_arbitration(sw, s, set, mod);
	case IB_SMP_ATTR_LINEAR_FORWARD_TABLE:
		return linear_table(sw, s, set, mod);
	case IB_SMP_ATTR_MCAST_FORWARD_TABLE:
		return multicast_table(sw, s, set, mod);
	default:
		return IB_SMP_UNSUP_METH_ATTR;
	}
}

/* turns the request into the response; false if there is none */
static bool respond(struct vqib_switch *sw, struct ib_smp *s, unsigned int in)
{
	bool set = s->method == IB_MGMT_METHOD_SET;

	if (s->method & IB_MGMT_METHOD_RESP || s->method == IB_MGMT_METHOD_TRAP_REPRESS)
		return false;
	if (s->base_version != 1 || s->class_version != 1)
		s->status |= IB_SMP_UNSUP_VERSION;
	else if (!set && s->method != IB_MGMT_METHOD_GET)
		s->status |= IB_SMP_UNSUP_METHOD;
	else
		s->status |= attribute(sw, s, set, in);
	s->method = IB_MGMT_METHOD_GET_RESP;
	return true;
}

/* ----------------------------------------------------------------- packets */

/* takes p over */
static void lid_routed(struct vqib_switch *sw, unsigned int in, struct vqib_pkt *p)
{
	struct ib_smp *s = smp_of(p);
	u16 to = get_unaligned_be16(p->data + 6);

	s->status = 0;
	if (!respond(sw, s, in)) {
		kfree(p);
		return;
	}
	put_unaligned_be16(to, p->data + 2);
	put_unaligned_be16(sw->lid, p->data + 6);
	if (to < VQIB_LFT_SIZE && sw->lft[to] != VQIB_NO_PORT)
		in = sw->lft[to];
	vqib_switch_out(sw, in, p, true);
}

/*
 * A switch's part in IBA 14.2.2. Changes the packet as required and returns the port that it leaves
 * by; 0: drop it. LID-routed parts before or after the directed route are not implemented.
 */
static unsigned int directed(struct vqib_switch *sw, unsigned int in, struct ib_smp *s, bool *own)
{
	*own = false;
	if (s->hop_cnt >= IB_SMP_MAX_PATH_HOPS)
		return 0;
	if (s->status & DIRECTION) {			/* returning */
		if (s->hop_ptr < 2 || s->hop_ptr > s->hop_cnt)
			return 0;
		return s->return_path[--s->hop_ptr];
	}
	if (s->hop_ptr && s->hop_ptr < s->hop_cnt) {	/* passing */
		s->return_path[s->hop_ptr++] = in;
		return s->initial_path[s->hop_ptr];
	}
	if (s->hop_ptr == s->hop_cnt) {			/* the path ends here */
		if (s->hop_cnt)
			s->return_path[s->hop_ptr] = in;
		s->hop_ptr++;
	}
	if (s->hop_ptr != s->hop_cnt + 1 || s->dr_dlid != IB_LID_PERMISSIVE || !respond(sw, s, in))
		return 0;
	s->status |= DIRECTION;
	*own = true;
	return s->hop_cnt ? s->return_path[--s->hop_ptr] : in;
}

/**
 * vqib_switch_smp - handles an SMP for the switch, or one with a directed route that passes it
 * @sw: the switch
 * @in: the port that it arrived on
 * @p: the packet, of VQIB_SMP_PKT octets; this function frees or queues it
 */
void vqib_switch_smp(struct vqib_switch *sw, unsigned int in, struct vqib_pkt *p)
{
	struct ib_smp *s = smp_of(p);
	bool own;

	p->sealed = false;	/* the packet will change; its CRCs have been checked */
	if (s->mgmt_class == IB_MGMT_CLASS_SUBN_LID_ROUTED) {
		lid_routed(sw, in, p);
	} else if (s->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE) {
		unsigned int out = directed(sw, in, s, &own);

		memset(p->data + 2, 0xff, 2);	/* permissive LIDs */
		memset(p->data + 6, 0xff, 2);
		vqib_switch_out(sw, out, p, own);
	} else {
		kfree(p);
	}
}

/* creates an SMP from the switch to the SM, without payload; NULL if there is no route to the SM */
static struct vqib_pkt *to_sm(struct vqib_switch *sw, unsigned int *port)
{
	u16 sm = be16_to_cpu(sw->port[0].info.sm_lid);
	struct vqib_pkt *p;

	if (!sw->lid || !sm || sm >= VQIB_LFT_SIZE || sw->lft[sm] == VQIB_NO_PORT)
		return NULL;
	*port = sw->lft[sm];
	p = vqib_pkt_alloc(VQIB_SMP_PKT, GFP_KERNEL);
	if (!p)
		return NULL;
	memset(p->data, 0, VQIB_SMP_PKT);
	p->data[0] = 0xf0;				/* VL15 */
	p->data[1] = QIB_LRH_BTH;
	put_unaligned_be16(sm, p->data + 2);
	put_unaligned_be16((VQIB_SMP_PKT + 4) >> 2, p->data + 4);
	put_unaligned_be16(sw->lid, p->data + 6);
	p->data[VQIB_LRH] = IB_OPCODE_UD_SEND_ONLY;
	put_unaligned_be16(QIB_DEFAULT_P_KEY, p->data + VQIB_LRH + 2);
	return p;
}

/*
 * Work item: a port has gone up or down. The trap is sent once and not repeated without a
 * TrapRepress, because OpenSM also finds PortStateChange set.
 */
void vqib_switch_notify(struct work_struct *work)
{
	struct vqib_switch *sw = container_of(work, struct vqib_switch, notify);
	struct notice *notice;
	unsigned int port;
	struct vqib_pkt *p = to_sm(sw, &port);
	struct ib_smp *s;

	if (!p)
		return;
	s = smp_of(p);
	s->base_version = 1;
	s->mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED;
	s->class_version = 1;
	s->method = IB_MGMT_METHOD_TRAP;
	s->tid = cpu_to_be64(++sw->tid);
	s->attr_id = IB_SMP_ATTR_NOTICE;
	notice = (struct notice *)s->data;
	notice->type = 0x81;		/* generic, urgent */
	notice->producer[2] = 2;	/* switch */
	notice->trap = cpu_to_be16(TRAP_PORT_CHANGE);
	notice->issuer = cpu_to_be16(sw->lid);
	notice->lid = cpu_to_be16(sw->lid);
	vqib_switch_out(sw, port, p, true);
}

static void init_port(struct vqib_switch_port *port)
{
	struct ib_port_info *info = &port->info;

	port->pkeys[0] = cpu_to_be16(QIB_DEFAULT_P_KEY);
	info->link_width_supported = IB_WIDTH_1X | IB_WIDTH_4X;
	info->link_width_enabled = info->link_width_supported;
	info->link_width_active = IB_WIDTH_4X;
	info->linkspeed_portstate = (QIB_IB_SDR | QIB_IB_DDR | QIB_IB_QDR) << 4;
	info->linkspeedactive_enabled = QIB_IB_QDR << 4 | QIB_IB_SDR | QIB_IB_DDR | QIB_IB_QDR;
	info->neighbormtu_mastersmsl = qib_ibmtu << 4;
	info->inittypereply_mtucap = qib_ibmtu;
	info->vlcap_inittype = vqib_vlcap << 4;
	info->operationalvl_pei_peo_fpi_fpo = vqib_vlcap << 4;
	info->vl_arb_high_cap = 8;
	info->vl_arb_low_cap = 8;
	info->resv_resptimevalue = 3;
	info->localphyerrors_overrunerrors = 0xff;
}

void vqib_switch_init_info(struct vqib_switch *sw)
{
	struct vqib_switch_port *port0 = &sw->port[0];
	unsigned int i;

	sw->guid = cpu_to_be64(SWITCH_GUID + sw->number * 0x100);
	snprintf(sw->desc, sizeof(sw->desc), "vqib virtual switch %u", sw->number);
	sw->info.lin_cap = cpu_to_be16(VQIB_LFT_SIZE);
	sw->info.mcast_cap = cpu_to_be16(VQIB_MFT_SIZE);
	sw->info.def_mcast_prim = VQIB_NO_PORT;
	sw->info.def_mcast_not = VQIB_NO_PORT;
	sw->info.part_enf_cap = cpu_to_be16(VQIB_PKEYS);
	sw->info.flags = CAPS;
	for (i = 0; i <= sw->nports; i++)
		init_port(&sw->port[i]);
	port0->info.gid_prefix = IB_DEFAULT_GID_PREFIX;
	port0->info.guid_cap = 1;
	port0->info.cap_mask = cpu_to_be32(IB_PORT_TRAP_SUP | IB_PORT_SL_MAP_SUP |
					   IB_PORT_SYS_IMAGE_GUID_SUP);
	port0->end.log = IB_PORT_ACTIVE;
	port0->end.phys = IB_PHYSPORTSTATE_LINKUP;
}
