// SPDX-License-Identifier: GPL-2.0
/*
 * vqib: the HCA. Its transport (RC, UC, UD), its SMA and PMA and its verbs are the ib_qib
 * driver's own files; queue pairs, completion queues and memory regions are rdmavt's. This file
 * replaces the chip: the functions that ib_qib calls to send, to configure and to count, and the
 * delivery of received packets.
 */
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "vqib.h"
#include "qib_mad.h"

#define BASE_GUID 0x0011750000000100ULL	/* of the first HCA; each further HCA adds 0x10 */

unsigned int vqib_vlcap = IB_VL_VL0_3;
module_param_named(vlcap, vqib_vlcap, uint, 0444);
MODULE_PARM_DESC(vlcap, "VLCap (1 VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7)");
unsigned int qib_ibmtu = IB_MTU_4096;
module_param_named(ibmtu, qib_ibmtu, uint, 0444);
MODULE_PARM_DESC(ibmtu, "MTU (1 256, 2 512, 3 1024, 4 2048, 5 4096 octets)");

/* files of ib_qib that are not part of this module define these */
unsigned int qib_cc_table_size;
static struct attribute *no_attrs[] = { NULL };
const struct attribute_group qib_attr_group = { .attrs = no_attrs };
const struct attribute_group *qib_attr_port_groups[] = { NULL };

static struct platform_device *chips[VQIB_MAX_HCAS];
static struct pci_dev *fake_pci_dev;	/* rdmavt prints its name */

/* --------------------------------------------------------------- receiving */

/* octets of the extended transport headers behind the BTH; IBA 9.3 */
static u32 extended_headers(u8 opcode)
{
	static const u8 connected[32] = {
		[0x03] = 4, [0x05] = 4,			/* ImmDt */
		[0x06] = 16, [0x0a] = 16, [0x0c] = 16,	/* RETH */
		[0x09] = 4, [0x0b] = 20,		/* ImmDt; RETH, ImmDt */
		[0x0d] = 4, [0x0f] = 4, [0x10] = 4, [0x11] = 4,	/* AETH */
		[0x12] = 12, [0x13] = 28, [0x14] = 28,	/* AETH, AtomicAckETH; AtomicETH */
		[0x16] = 4, [0x17] = 4,			/* IETH */
	};

	switch (opcode >> 5) {
	case 0:		/* RC */
	case 1:		/* UC */
		return connected[opcode & 31];
	case 3:		/* UD */
		return (opcode & 31) == 5 ? 12 : 8;
	default:
		return 0;
	}
}

/*
 * returns the offset of the payload, or 0 if the packet is too short for its headers, or has no
 * InfiniBand transport header
 */
static u32 payload_at(const struct vqib_pkt *p)
{
	u32 at = vqib_bth_at(p);

	if (!(vqib_lnh(p) & 2) || p->len < at + VQIB_BTH)
		return 0;
	at += VQIB_BTH + extended_headers(p->data[at]);
	return at <= p->len ? at : 0;
}

/* sends the RC responses that received packets require, as the end of qib_kreceive() does */
static void send_responses(struct qib_ctxtdata *rcd)
{
	struct rvt_qp *qp, *next;
	unsigned long flags;

	list_for_each_entry_safe(qp, next, &rcd->qp_wait_list, rspwait) {
		list_del_init(&qp->rspwait);
		if (qp->r_flags & RVT_R_RSP_NAK) {
			qp->r_flags &= ~RVT_R_RSP_NAK;
			qib_send_rc_ack(qp);
		}
		if (qp->r_flags & RVT_R_RSP_SEND) {
			qp->r_flags &= ~RVT_R_RSP_SEND;
			spin_lock_irqsave(&qp->s_lock, flags);
			if (ib_rvt_state_ops[qp->state] & RVT_PROCESS_OR_FLUSH_SEND)
				qib_schedule_send(qp);
			spin_unlock_irqrestore(&qp->s_lock, flags);
		}
		rvt_put_qp(qp);
	}
}

/* passes a packet to the transport, which expects interrupt context */
static void to_transport(struct qib_ctxtdata *rcd, struct vqib_pkt *p, u32 payload)
{
	unsigned long flags;

	local_irq_save(flags);
	qib_ib_rcv(rcd, p->data, p->data + payload, p->len + 4);
	send_responses(rcd);
	local_irq_restore(flags);
}

static void chip_receive(struct vqib_rxq *q, struct vqib_pkt *p)
{
	struct vqib_end *end = p->at;
	struct qib_pportdata *ppd = end->ppd;
	u32 payload;

	if (!vqib_link_layer_ok(end, p, ppd->ibmtu))
		goto out;
	if (!vqib_icrc_ok(p)) {
		vqib_count(end, VQIB_BAD_ICRC);
		goto out;
	}
	vqib_sniff(end, p);
	payload = payload_at(p);
	if (payload)
		to_transport(ppd->dd->rcd[ppd->hw_pidx], p, payload);
	else
		vqib_count(end, VQIB_BAD_FORMAT);
out:
	kfree(p);
}

/* ------------------------------------- sending, called by ib_qib's transport */

int vqib_wire_alloc(struct qib_pportdata *ppd, u32 bytes, void **pkt, void **data)
{
	struct vqib_pkt *p = vqib_pkt_alloc(bytes, GFP_ATOMIC);

	if (!p)
		return -ENOMEM;
	*pkt = p;
	*data = p->data;
	return 0;
}

void vqib_wire_send(struct qib_pportdata *ppd, void *pkt)
{
	vqib_send(vqib_end_of(ppd), pkt, true);
}

/* -------------------------------- configuration, called by ib_qib's SMA and PMA */

int qib_set_mtu(struct qib_pportdata *ppd, u16 mtu)
{
	if (mtu < 256 || mtu > ib_mtu_enum_to_int(qib_ibmtu) || !is_power_of_2(mtu))
		return -EINVAL;
	ppd->ibmtu = mtu;
	return 0;
}

int qib_set_lid(struct qib_pportdata *ppd, u32 lid, u8 lmc)
{
	ppd->lid = lid;
	ppd->lmc = lmc;
	return 0;
}

int qib_set_uevent_bits(struct qib_pportdata *ppd, const int evtbit)
{
	return 0;
}

int qib_sdma_make_progress(struct qib_pportdata *ppd)
{
	return 0;
}

struct pci_dev *qib_get_pci_dev(struct rvt_dev_info *rdi)
{
	return fake_pci_dev;
}

static u32 chip_link_state(u64 status)
{
	return status & 0xff;
}

static u8 chip_phys_state(u64 status)
{
	return status >> 8;
}

static int chip_get_cfg(struct qib_pportdata *ppd, int which)
{
	struct qib_chippport_specific *c = ppd->cpspec;

	switch (which) {
	case QIB_IB_CFG_OP_VLS:
		return ppd->vls_operational;
	case QIB_IB_CFG_VL_HIGH_CAP:
	case QIB_IB_CFG_VL_LOW_CAP:
		return 8;
	case QIB_IB_CFG_OVERRUN_THRESH:
		return c->overrun_threshold;
	case QIB_IB_CFG_PHYERR_THRESH:
		return c->phyerr_threshold;
	case QIB_IB_CFG_LINKDEFAULT:
		return c->linkdef;
	case QIB_IB_CFG_PMA_TICKS:
		return 1;
	default:
		return 0;
	}
}

static int chip_set_cfg(struct qib_pportdata *ppd, int which, u32 value)
{
	struct qib_chippport_specific *c = ppd->cpspec;

	switch (which) {
	case QIB_IB_CFG_LWID_ENB:
		ppd->link_width_enabled = value;
		break;
	case QIB_IB_CFG_SPD_ENB:
		ppd->link_speed_enabled = value;
		break;
	case QIB_IB_CFG_OP_VLS:
		ppd->vls_operational = value;
		break;
	case QIB_IB_CFG_OVERRUN_THRESH:
		c->overrun_threshold = value;
		break;
	case QIB_IB_CFG_PHYERR_THRESH:
		c->phyerr_threshold = value;
		break;
	case QIB_IB_CFG_LINKDEFAULT:
		c->linkdef = value;
		break;
	}
	return 0;
}

static int chip_get_table(struct qib_pportdata *ppd, int which, void *table)
{
	memcpy(table, ppd->cpspec->vlarb[which == QIB_IB_TBL_VL_HIGH_ARB], 64);
	return 0;
}

static int chip_set_table(struct qib_pportdata *ppd, int which, void *table)
{
	memcpy(ppd->cpspec->vlarb[which == QIB_IB_TBL_VL_HIGH_ARB], table, 64);
	return 0;
}

static void chip_set_sample(struct qib_pportdata *ppd, u32 interval, u32 start)
{
}

static void chip_want_buffer(struct qib_devdata *dd, u32 wanted)
{
}

static u64 chip_counter(struct qib_pportdata *ppd, u32 which)
{
	static const u8 counter[] = {	/* one more than enum vqib_counter */
		[QIBPORTCNTR_PKTSEND] = VQIB_TX_PKTS + 1,
		[QIBPORTCNTR_WORDSEND] = VQIB_TX_WORDS + 1,
		[QIBPORTCNTR_PKTRCV] = VQIB_RX_PKTS + 1,
		[QIBPORTCNTR_WORDRCV] = VQIB_RX_WORDS + 1,
		[QIBPORTCNTR_RXDROPPKT] = VQIB_RX_DISCARDS + 1,
		[QIBPORTCNTR_UNSUPVL] = VQIB_TX_DISCARDS + 1,
		[QIBPORTCNTR_ERRICRC] = VQIB_BAD_ICRC + 1,
		[QIBPORTCNTR_ERRVCRC] = VQIB_BAD_VCRC + 1,
		[QIBPORTCNTR_ERR_RLEN] = VQIB_BAD_LENGTH + 1,
		[QIBPORTCNTR_BADFORMAT] = VQIB_BAD_FORMAT + 1,
		[QIBPORTCNTR_IBLINKDOWN] = VQIB_LINK_DOWNED + 1,
	};

	if (which >= ARRAY_SIZE(counter) || !counter[which])
		return 0;
	return atomic64_read(&vqib_end_of(ppd)->count[counter[which] - 1]);
}

/* ------------------------------------------------------------- set up, exit */

static void set_device(struct qib_devdata *dd, unsigned int unit)
{
	dd->unit = unit;
	dd->num_pports = 1;
	dd->pport = (struct qib_pportdata *)(dd + 1);
	dd->pcidev = chips[unit];
	dd->flags = QIB_PRESENT | QIB_INITTED;
	dd->deviceid = 0x7322;		/* the value of a QLE7340 */
	dd->minrev = 1;
	dd->majrev = 7;
	dd->base_guid = cpu_to_be64(BASE_GUID + unit * 0x10);
	dd->f_iblink_state = chip_link_state;
	dd->f_ibphys_portstate = chip_phys_state;
	dd->f_get_ib_cfg = chip_get_cfg;
	dd->f_set_ib_cfg = chip_set_cfg;
	dd->f_get_ib_table = chip_get_table;
	dd->f_set_ib_table = chip_set_table;
	dd->f_portcntr = chip_counter;
	dd->f_set_cntr_sample = chip_set_sample;
	dd->f_wantpiobuf_intr = chip_want_buffer;
	rvt_set_ibdev_name(&dd->verbs_dev.rdi, "%s%d", "vqib", unit);
}

static void set_port(struct qib_pportdata *ppd, struct qib_devdata *dd)
{
	ppd->dd = dd;
	ppd->port = 1;
	ppd->guid = dd->base_guid;
	spin_lock_init(&ppd->sdma_lock);
	spin_lock_init(&ppd->lflags_lock);
	spin_lock_init(&ppd->cc_shadow_lock);
	ppd->ibmtu = ib_mtu_enum_to_int(qib_ibmtu);
	ppd->link_width_supported = IB_WIDTH_1X | IB_WIDTH_4X;
	ppd->link_width_enabled = ppd->link_width_supported;
	ppd->link_width_active = IB_WIDTH_4X;
	ppd->link_speed_supported = QIB_IB_SDR | QIB_IB_DDR | QIB_IB_QDR;
	ppd->link_speed_enabled = ppd->link_speed_supported;
	ppd->link_speed_active = QIB_IB_QDR;
	ppd->vls_supported = vqib_vlcap;
	ppd->vls_operational = vqib_vlcap;
	ppd->lflags = QIBL_LINKDOWN;
	ppd->lastibcstat = IB_PORT_DOWN | IB_PHYSPORTSTATE_POLL << 8;
}

static int alloc_port(struct qib_pportdata *ppd, unsigned int unit)
{
	struct qib_ibport *ibp = &ppd->ibport_data;

	ibp->pmastats = alloc_percpu(struct qib_pma_counters);
	ibp->rvp.rc_acks = alloc_percpu(u64);
	ibp->rvp.rc_qacks = alloc_percpu(u64);
	ibp->rvp.rc_delayed_comp = alloc_percpu(u64);
	ppd->qib_wq = alloc_workqueue("vqib%u_tx", WQ_HIGHPRI | WQ_MEM_RECLAIM, 1, unit);
	if (!ibp->pmastats || !ibp->rvp.rc_acks || !ibp->rvp.rc_qacks ||
	    !ibp->rvp.rc_delayed_comp || !ppd->qib_wq)
		return -ENOMEM;
	return 0;
}

/* ib_qib's data per receive context; this module has one context, without buffers */
static struct qib_ctxtdata *alloc_context(struct qib_devdata *dd)
{
	struct qib_ctxtdata *rcd = kzalloc(sizeof(*rcd), GFP_KERNEL);

	if (!rcd)
		return NULL;
	rcd->opstats = kzalloc(sizeof(*rcd->opstats), GFP_KERNEL);
	if (!rcd->opstats) {
		kfree(rcd);
		return NULL;
	}
	INIT_LIST_HEAD(&rcd->qp_wait_list);
	rcd->ppd = dd->pport;
	rcd->dd = dd;
	rcd->pkeys[0] = QIB_DEFAULT_P_KEY;
	return rcd;
}

static struct qib_chippport_specific *alloc_end(struct qib_pportdata *ppd, unsigned int unit)
{
	struct qib_chippport_specific *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return NULL;
	c->linkdef = IB_LINKINITCMD_POLL;
	c->overrun_threshold = 15;
	c->phyerr_threshold = 15;
	snprintf(c->end.name, sizeof(c->end.name), "h%u", unit);
	c->end.ppd = ppd;
	c->end.port = 1;
	INIT_LIST_HEAD(&c->sniffers);
	vqib_rxq_init(&c->rxq, chip_receive);
	vqib_end_init(&c->end, &c->rxq);
	return c;
}

/**
 * vqib_chip_create - creates an HCA, registered with the InfiniBand core
 * @unit: its number
 *
 * Return: the HCA, or an error pointer
 */
struct qib_devdata *vqib_chip_create(unsigned int unit)
{
	struct qib_devdata *dd;
	int ret = -ENOMEM;

	dd = (struct qib_devdata *)rvt_alloc_device(sizeof(*dd) + sizeof(struct qib_pportdata), 1);
	if (!dd)
		return ERR_PTR(-ENOMEM);
	set_device(dd, unit);
	set_port(dd->pport, dd);
	dd->rcd = kcalloc(1, sizeof(*dd->rcd), GFP_KERNEL);
	if (!dd->rcd || alloc_port(dd->pport, unit))
		goto fail;
	dd->rcd[0] = alloc_context(dd);
	dd->pport->cpspec = alloc_end(dd->pport, unit);
	if (!dd->rcd[0] || !dd->pport->cpspec)
		goto fail;
	ret = qib_register_ib_device(dd);
	if (ret)
		goto fail;
	return dd;
fail:
	vqib_chip_free(dd);
	return ERR_PTR(ret);
}

/* Takes the link down first, so that no packet arrives while users release the device. */
void vqib_chip_unplug(struct qib_devdata *dd)
{
	struct vqib_end *end = vqib_end_of(dd->pport);

	vqib_link_cable(end, false);
	vqib_rxq_stop(end->rxq);
	qib_unregister_ib_device(dd);
}

void vqib_chip_free(struct qib_devdata *dd)
{
	struct qib_pportdata *ppd = dd->pport;
	struct qib_ibport *ibp = &ppd->ibport_data;

	if (ppd->cpspec)
		vqib_end_stop(&ppd->cpspec->end);
	kfree(ppd->cpspec);
	if (ppd->qib_wq)
		destroy_workqueue(ppd->qib_wq);
	free_percpu(ibp->pmastats);
	free_percpu(ibp->rvp.rc_acks);
	free_percpu(ibp->rvp.rc_qacks);
	free_percpu(ibp->rvp.rc_delayed_comp);
	if (dd->rcd && dd->rcd[0]) {
		kfree(dd->rcd[0]->opstats);
		kfree(dd->rcd[0]);
	}
	kfree(dd->rcd);
	rvt_dealloc_device(&dd->verbs_dev.rdi);
}

int vqib_chip_init(void)
{
	unsigned int i;

	if (qib_ibmtu < IB_MTU_256 || qib_ibmtu > IB_MTU_4096 ||
	    vqib_vlcap < IB_VL_VL0 || vqib_vlcap > IB_VL_VL0_7) {
		pr_err("vqib: ibmtu is 1 to 5, vlcap 1 to 4\n");
		return -EINVAL;
	}
	fake_pci_dev = kzalloc(sizeof(*fake_pci_dev), GFP_KERNEL);
	if (!fake_pci_dev)
		return -ENOMEM;
	fake_pci_dev->dev.init_name = "vqib";
	for (i = 0; i < vqib_nhcas; i++) {
		struct platform_device *chip = platform_device_register_simple("vqib", i, NULL, 0);

		if (IS_ERR(chip))
			return PTR_ERR(chip);
		chips[i] = chip;
	}
	return 0;
}

void vqib_chip_exit(void)
{
	unsigned int i;

	for (i = 0; i < vqib_nhcas; i++)
		platform_device_unregister(chips[i]);
	kfree(fake_pci_dev);
}
