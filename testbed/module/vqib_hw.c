// SPDX-License-Identifier: GPL-2.0
/*
 * vqib: hardware-free InfiniBand test HCAs.
 *
 * The transport (RC/UC/UD), the SMA/PMA and the verbs glue are the Linux
 * ib_qib driver's own files (qib_rc.c, qib_uc.c, qib_ud.c, qib_ruc.c, qib_qp.c,
 * qib_mad.c, qib_verbs.c); queue pairs, CQs, MRs and mmap are rdmavt's.
 * This file stands where the chip was: device set-up, the link state machine,
 * an in-kernel wire (back to back, or a switch with its own SMA), and
 * /dev/vqib_wire from which every packet can be read as a pcap stream
 * (LINKTYPE_INFINIBAND 247: LRH .. payload, ICRC, VCRC).
 */
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/miscdevice.h>
#include <linux/crc32.h>
#include <linux/poll.h>
#include <linux/vmalloc.h>
#include <linux/utsname.h>
#include <rdma/ib_smi.h>
#include <rdma/ib_mad.h>

#include "qib.h"
#include "qib_mad.h"

static unsigned int nhca = 2;
module_param(nhca, uint, 0444);
MODULE_PARM_DESC(nhca, "number of virtual HCAs (2..16)");
static unsigned int topo;
module_param(topo, uint, 0444);
MODULE_PARM_DESC(topo, "0: two HCAs back to back, 1: all on one virtual switch");
static unsigned int cap_mode = 1;
module_param(cap_mode, uint, 0644);
MODULE_PARM_DESC(cap_mode, "capture: 1 each packet where it enters the fabric, 2 every link it crosses");
static unsigned int rxq_max = 16384;
module_param(rxq_max, uint, 0644);
MODULE_PARM_DESC(rxq_max, "receive queue limit per port, packets; above it packets are dropped");
static unsigned int loss_ppm;
module_param(loss_ppm, uint, 0644);
MODULE_PARM_DESC(loss_ppm, "random loss of packets not on VL15, parts per million");
static unsigned int cap_lost = 1;
module_param(cap_lost, uint, 0644);
MODULE_PARM_DESC(cap_lost, "capture: 1 a packet that loss_ppm drops is seen (the sender's view), 0 it is not (the receiver's)");
static unsigned int vlcap = IB_VL_VL0_3;
module_param(vlcap, uint, 0444);
MODULE_PARM_DESC(vlcap, "VLCap (1 VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7)");
unsigned int qib_ibmtu = 5;
module_param_named(ibmtu, qib_ibmtu, uint, 0444);
unsigned int qib_cc_table_size;

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("virtual InfiniBand HCAs (ib_qib's upper half on an in-kernel wire)");

const char ib_qib_version[] = "vqib";
struct qlogic_ib_stats qib_stats;
DEFINE_MUTEX(qib_mutex);

#define VQ_MAXHCA 16
#define VQ_MAXPKT (8 + 40 + 12 + 64 + 4096 + 4)

struct vpkt {
	struct list_head list;
	u32 len;		/* LRH .. payload + pad, no CRCs */
	u16 inport;		/* switch: port it came in on */
	u16 rsv;
	u8 data[];
};

/* what is private to a port: the far end of its link and its receive queue */
struct qib_chippport_specific {
	struct qib_pportdata *ppd;
	spinlock_t lock;
	struct list_head rxq;
	u32 rxdepth;
	struct work_struct rxwork;
	struct delayed_work linkwork;
	bool dead;
	u8 disabled;
	u8 linkdef;
	u8 ore, phyerr;
	u8 vlarb[2][64];
	u64 txpkts, txwords, rxpkts, rxwords, rxdrop, linkdown, txdisc;
};

static struct qib_devdata *vq_dd[VQ_MAXHCA];
static struct platform_device *vq_pdev[VQ_MAXHCA];
static struct workqueue_struct *vq_rxwq;
static struct pci_dev *vq_fakepci;

static inline u32 mkstat(u8 log, u8 phys)
{
	return log | phys << 8;
}

/* ------------------------------------------------------------------ CRCs */

static u16 vq_vcrc_tab[256];

static void vq_crc_init(void)
{
	int i, j;

	for (i = 0; i < 256; i++) {
		u16 c = i;

		for (j = 0; j < 8; j++)
			c = c & 1 ? (c >> 1) ^ 0xD008 : c >> 1;	/* 0x100B reflected */
		vq_vcrc_tab[i] = c;
	}
}

static u16 vq_vcrc(const u8 *p, u32 n)
{
	u16 c = 0xffff;

	while (n--)
		c = (c >> 8) ^ vq_vcrc_tab[(c ^ *p++) & 0xff];
	return ~c;
}

static u32 vq_icrc(const u8 *p, u32 n)
{
	u8 h[8 + 40 + 12];
	u32 hl, crc;

	if ((p[1] & 3) == QIB_LRH_GRH) {
		hl = min_t(u32, n, 60);
		memcpy(h, p, hl);
		memset(h, 0xff, 8);		/* whole LRH */
		h[8] |= 0x0f; h[9] = 0xff; h[10] = 0xff; h[11] = 0xff; /* TClass, flow */
		h[15] = 0xff;			/* HopLimit */
		h[48 + 4] = 0xff;		/* BTH resv8a / FECN BECN */
	} else {
		hl = min_t(u32, n, 20);
		memcpy(h, p, hl);
		h[0] |= 0xf0;			/* VL */
		h[8 + 4] = 0xff;
	}
	crc = crc32_le(~0, h, hl);
	crc = crc32_le(crc, p + hl, n - hl);
	return ~crc;
}

/* --------------------------------------------------------- /dev/vqib_wire */

struct cap_rec {
	struct list_head list;
	u32 len, off;
	u8 data[];
};

struct cap_file {
	struct list_head list;
	struct list_head recs;
	spinlock_t lock;
	wait_queue_head_t wait;
	size_t bytes;
	u64 drops;
};

static LIST_HEAD(cap_files);
static DEFINE_SPINLOCK(cap_lock);
static atomic_t cap_n;
#define CAP_MAXBYTES (128u << 20)

static void vq_capture(const struct vpkt *p)
{
	struct cap_file *f;
	unsigned long flags;
	struct timespec64 ts;

	if (!atomic_read(&cap_n))
		return;
	ktime_get_real_ts64(&ts);
	spin_lock_irqsave(&cap_lock, flags);
	list_for_each_entry(f, &cap_files, list) {
		struct cap_rec *r;
		u32 *h, crc;
		u16 v;

		if (f->bytes > CAP_MAXBYTES) {
			f->drops++;
			continue;
		}
		r = kmalloc(sizeof(*r) + 16 + p->len + 6, GFP_ATOMIC);
		if (!r) {
			f->drops++;
			continue;
		}
		h = (u32 *)r->data;
		h[0] = ts.tv_sec;
		h[1] = ts.tv_nsec;
		h[2] = h[3] = p->len + 6;
		memcpy(r->data + 16, p->data, p->len);
		crc = vq_icrc(p->data, p->len);
		memcpy(r->data + 16 + p->len, &crc, 4);
		v = vq_vcrc(r->data + 16, p->len + 4);
		memcpy(r->data + 16 + p->len + 4, &v, 2);
		r->len = 16 + p->len + 6;
		r->off = 0;
		spin_lock(&f->lock);
		list_add_tail(&r->list, &f->recs);
		f->bytes += r->len;
		spin_unlock(&f->lock);
		wake_up_interruptible(&f->wait);
	}
	spin_unlock_irqrestore(&cap_lock, flags);
}

static int cap_open(struct inode *ino, struct file *file)
{
	struct cap_file *f = kzalloc(sizeof(*f), GFP_KERNEL);
	struct cap_rec *r;
	u32 *h;

	if (!f)
		return -ENOMEM;
	INIT_LIST_HEAD(&f->recs);
	spin_lock_init(&f->lock);
	init_waitqueue_head(&f->wait);
	file->private_data = f;
	if (!(file->f_mode & FMODE_READ)) {
		INIT_LIST_HEAD(&f->list);
		return 0;
	}
	r = kmalloc(sizeof(*r) + 24, GFP_KERNEL);
	if (!r) {
		kfree(f);
		return -ENOMEM;
	}
	h = (u32 *)r->data;
	h[0] = 0xa1b23c4d;			/* pcap, nanoseconds */
	h[1] = 2 | 4 << 16;
	h[2] = h[3] = 0;
	h[4] = 65535;
	h[5] = 247;				/* LINKTYPE_INFINIBAND */
	r->len = 24;
	r->off = 0;
	list_add_tail(&r->list, &f->recs);
	f->bytes = 24;
	spin_lock_irq(&cap_lock);
	list_add_tail(&f->list, &cap_files);
	spin_unlock_irq(&cap_lock);
	atomic_inc(&cap_n);
	return nonseekable_open(ino, file);
}

static int cap_release(struct inode *ino, struct file *file)
{
	struct cap_file *f = file->private_data;
	struct cap_rec *r, *n;

	if (!list_empty(&f->list)) {
		atomic_dec(&cap_n);
		spin_lock_irq(&cap_lock);
		list_del(&f->list);
		spin_unlock_irq(&cap_lock);
	}
	if (f->drops)
		pr_warn("vqib: a capture lost %llu packets\n", f->drops);
	list_for_each_entry_safe(r, n, &f->recs, list)
		kfree(r);
	kfree(f);
	return 0;
}

static ssize_t cap_read(struct file *file, char __user *buf, size_t n, loff_t *off)
{
	struct cap_file *f = file->private_data;
	ssize_t done = 0;

	while (n) {
		struct cap_rec *r;
		u32 m;

		spin_lock_irq(&f->lock);
		r = list_first_entry_or_null(&f->recs, struct cap_rec, list);
		spin_unlock_irq(&f->lock);
		if (!r) {
			if (done)
				break;
			if (file->f_flags & O_NONBLOCK)
				return -EAGAIN;
			if (wait_event_interruptible(f->wait, !list_empty(&f->recs)))
				return -ERESTARTSYS;
			continue;
		}
		m = min_t(size_t, n, r->len - r->off);
		if (copy_to_user(buf + done, r->data + r->off, m))
			return done ? done : -EFAULT;
		r->off += m;
		done += m;
		n -= m;
		if (r->off == r->len) {
			spin_lock_irq(&f->lock);
			list_del(&r->list);
			f->bytes -= r->len;
			spin_unlock_irq(&f->lock);
			kfree(r);
		}
	}
	return done;
}

static __poll_t cap_poll(struct file *file, poll_table *pt)
{
	struct cap_file *f = file->private_data;

	poll_wait(file, &f->wait, pt);
	return list_empty(&f->recs) ? 0 : EPOLLIN | EPOLLRDNORM;
}

static void vq_rx_enqueue(struct qib_chippport_specific *ep, struct vpkt *p);
static void vq_to_wire(struct qib_pportdata *ppd, struct vpkt *p);

/*
 * write: 4 bytes {unit, direction, 0, 0} then one packet, LRH .. payload+pad
 * without the CRCs. Direction 0: as if the HCA had sent it; 1: as if it came
 * in from the HCA's link.
 */
static ssize_t cap_write(struct file *file, const char __user *buf, size_t n, loff_t *off)
{
	struct vpkt *p;
	u8 h[4];

	if (n < 4 + 24 || n > 4 + VQ_MAXPKT || (n & 3))
		return -EINVAL;
	if (copy_from_user(h, buf, 4))
		return -EFAULT;
	if (h[0] >= nhca || !vq_dd[h[0]])
		return -ENODEV;
	p = kmalloc(sizeof(*p) + n, GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	p->len = n - 4;
	if (copy_from_user(p->data, buf + 4, n - 4)) {
		kfree(p);
		return -EFAULT;
	}
	vq_capture(p);
	if (h[1] & 1)
		vq_rx_enqueue(vq_dd[h[0]]->pport[0].cpspec, p);
	else
		vq_to_wire(vq_dd[h[0]]->pport, p);
	return n;
}

static const struct file_operations cap_fops = {
	.owner = THIS_MODULE,
	.open = cap_open,
	.release = cap_release,
	.read = cap_read,
	.write = cap_write,
	.poll = cap_poll,
	.llseek = no_llseek,
};

static struct miscdevice cap_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "vqib_wire",
	.fops = &cap_fops,
	.mode = 0600,
};

/* ------------------------------------------------------------ the HCA port */

static int vq_exthdr(u8 op)
{
	static const u8 rc[32] = {
		[0x03] = 4, [0x05] = 4, [0x06] = 16, [0x09] = 4, [0x0a] = 16,
		[0x0b] = 20, [0x0c] = 16, [0x0d] = 4, [0x0f] = 4, [0x10] = 4,
		[0x11] = 4, [0x12] = 12, [0x13] = 28, [0x14] = 28,
		[0x16] = 4, [0x17] = 4,
	};
	switch (op >> 5) {
	case 0:
	case 1:
		return rc[op & 31];
	case 3:
		return (op & 31) == 5 ? 12 : 8;
	default:
		return 0;
	}
}

static inline bool vq_is_vl15(const struct vpkt *p)
{
	return (p->data[0] >> 4) == 15;
}

static void vq_rx_one(struct qib_pportdata *ppd, struct vpkt *p)
{
	struct qib_ctxtdata *rcd = ppd->dd->rcd[ppd->hw_pidx];
	struct rvt_qp *qp, *nqp;
	u32 tlen = (get_unaligned_be16(p->data + 4) & 0x7ff) << 2;
	u32 hl;
	unsigned long flags;

	if (tlen != p->len + 4 || p->len < 20)
		goto drop;
	hl = 8;
	if ((p->data[1] & 3) == QIB_LRH_GRH)
		hl += 40;
	else if ((p->data[1] & 3) != QIB_LRH_BTH)
		goto drop;
	if (p->len < hl + 12)
		goto drop;
	hl += 12 + vq_exthdr(p->data[hl]);
	if (p->len < hl)
		goto drop;
	if (!vq_is_vl15(p) && !(ppd->lflags & (QIBL_LINKACTIVE | QIBL_LINKARMED)))
		goto drop;
	ppd->cpspec->rxpkts++;
	ppd->cpspec->rxwords += tlen >> 2;

	local_irq_save(flags);
	qib_ib_rcv(rcd, p->data, p->data + hl, tlen);
	/* as at the end of qib_kreceive() */
	list_for_each_entry_safe(qp, nqp, &rcd->qp_wait_list, rspwait) {
		list_del_init(&qp->rspwait);
		if (qp->r_flags & RVT_R_RSP_NAK) {
			qp->r_flags &= ~RVT_R_RSP_NAK;
			qib_send_rc_ack(qp);
		}
		if (qp->r_flags & RVT_R_RSP_SEND) {
			unsigned long f2;

			qp->r_flags &= ~RVT_R_RSP_SEND;
			spin_lock_irqsave(&qp->s_lock, f2);
			if (ib_rvt_state_ops[qp->state] & RVT_PROCESS_OR_FLUSH_SEND)
				qib_schedule_send(qp);
			spin_unlock_irqrestore(&qp->s_lock, f2);
		}
		rvt_put_qp(qp);
	}
	local_irq_restore(flags);
	return;
drop:
	ppd->cpspec->rxdrop++;
}

static void vq_rxwork(struct work_struct *w)
{
	struct qib_chippport_specific *ep = container_of(w, struct qib_chippport_specific, rxwork);
	struct vpkt *p;
	int budget = 256;

	while (budget--) {
		spin_lock_irq(&ep->lock);
		p = list_first_entry_or_null(&ep->rxq, struct vpkt, list);
		if (p) {
			list_del(&p->list);
			ep->rxdepth--;
		}
		spin_unlock_irq(&ep->lock);
		if (!p)
			return;
		vq_rx_one(ep->ppd, p);
		kfree(p);
	}
	queue_work(vq_rxwq, &ep->rxwork);
}

/* takes p over */
static void vq_rx_enqueue(struct qib_chippport_specific *ep, struct vpkt *p)
{
	unsigned long flags;

	spin_lock_irqsave(&ep->lock, flags);
	if (ep->dead || ep->rxdepth >= rxq_max) {
		ep->rxdrop++;
		spin_unlock_irqrestore(&ep->lock, flags);
		kfree(p);
		return;
	}
	list_add_tail(&p->list, &ep->rxq);
	ep->rxdepth++;
	spin_unlock_irqrestore(&ep->lock, flags);
	queue_work(vq_rxwq, &ep->rxwork);
}

int vqib_wire_alloc(struct qib_pportdata *ppd, u32 bytes, void **pkt, void **data)
{
	struct vpkt *p = kmalloc(sizeof(*p) + bytes, GFP_ATOMIC);

	if (!p)
		return -ENOMEM;
	p->len = bytes;
	*pkt = p;
	*data = p->data;
	return 0;
}

void vqib_wire_send(struct qib_pportdata *ppd, void *pkt)
{
	struct vpkt *p = pkt;
	bool lost;

	/* the link layer sends only VL15 before ACTIVE */
	if (!vq_is_vl15(p) && !(ppd->lflags & QIBL_LINKACTIVE)) {
		ppd->cpspec->txdisc++;
		kfree(p);
		return;
	}
	if (ppd->lflags & QIBL_LINKDOWN) {
		ppd->cpspec->txdisc++;
		kfree(p);
		return;
	}
	ppd->cpspec->txpkts++;
	ppd->cpspec->txwords += (p->len + 4) >> 2;
	lost = loss_ppm && !vq_is_vl15(p) && prandom_u32_max(1000000) < loss_ppm;
	if (!lost || cap_lost)
		vq_capture(p);
	if (lost) {
		kfree(p);
		return;
	}
	vq_to_wire(ppd, p);
}

/* ------------------------------------------------------ link state machine */

static void vq_signal(struct qib_pportdata *ppd, enum ib_event_type ev)
{
	struct ib_event e = {
		.device = &ppd->dd->verbs_dev.rdi.ibdev,
		.element.port_num = ppd->port,
		.event = ev,
	};
	ib_dispatch_event(&e);
}

static void vq_setstate(struct qib_pportdata *ppd, u8 log, u8 phys)
{
	u32 old = ppd->lflags, nf;
	unsigned long flags;

	nf = log == IB_PORT_ACTIVE ? QIBL_LINKACTIVE : log == IB_PORT_ARMED ? QIBL_LINKARMED :
	     log == IB_PORT_INIT ? QIBL_LINKINIT : QIBL_LINKDOWN;
	spin_lock_irqsave(&ppd->lflags_lock, flags);
	ppd->lflags &= ~(QIBL_LINKACTIVE | QIBL_LINKARMED | QIBL_LINKINIT | QIBL_LINKDOWN);
	ppd->lflags |= nf | QIBL_LINKV;
	ppd->lastibcstat = mkstat(log, phys);
	spin_unlock_irqrestore(&ppd->lflags_lock, flags);
	if (nf == QIBL_LINKACTIVE && !(old & QIBL_LINKACTIVE))
		vq_signal(ppd, IB_EVENT_PORT_ACTIVE);
	else if ((old & QIBL_LINKACTIVE) && nf != QIBL_LINKACTIVE)
		vq_signal(ppd, IB_EVENT_PORT_ERR);
}

static void sw_linkdown(int port);
static void sw_linkup(int port);
static bool sw_disabled(int port);

static void vq_train(struct qib_chippport_specific *ep)
{
	int u = ep->ppd->dd->unit;

	if (ep->disabled || ep->dead)
		return;
	if (topo == 0) {
		struct qib_pportdata *o = vq_dd[u ^ 1] ? vq_dd[u ^ 1]->pport : NULL;

		if (!o || o->cpspec->disabled)
			return;
		if (!(o->lflags & QIBL_LINKDOWN))
			return;
		vq_setstate(o, IB_PORT_INIT, IB_PHYSPORTSTATE_LINKUP);
		vq_setstate(ep->ppd, IB_PORT_INIT, IB_PHYSPORTSTATE_LINKUP);
	} else {
		if (sw_disabled(u + 1))
			return;
		sw_linkup(u + 1);
		vq_setstate(ep->ppd, IB_PORT_INIT, IB_PHYSPORTSTATE_LINKUP);
	}
}

static void vq_linkwork(struct work_struct *w)
{
	vq_train(container_of(to_delayed_work(w), struct qib_chippport_specific, linkwork));
}

/* link (HCA side) goes down; the far side sees it; unless disabled it trains again */
static void vq_linkdown(struct qib_pportdata *ppd, int how)
{
	int u = ppd->dd->unit;

	ppd->cpspec->disabled = how == IB_LINKINITCMD_DISABLE;
	ppd->cpspec->linkdown++;
	vq_setstate(ppd, IB_PORT_DOWN, ppd->cpspec->disabled ? IB_PHYSPORTSTATE_DISABLED : IB_PHYSPORTSTATE_POLL);
	if (topo == 0) {
		struct qib_pportdata *o = vq_dd[u ^ 1] ? vq_dd[u ^ 1]->pport : NULL;

		if (o && !o->cpspec->disabled)
			vq_setstate(o, IB_PORT_DOWN, IB_PHYSPORTSTATE_POLL);
	} else {
		sw_linkdown(u + 1);
	}
	/*
	 * Not disabled: the link trains again. At once, because a SubnSet(PortInfo)
	 * with PortState Down (OpenSM sends it when MTU or VLs change) must still
	 * get its answer through; the chip held the answer until the link was up.
	 */
	if (!ppd->cpspec->disabled)
		vq_train(ppd->cpspec);
}

int qib_wait_linkstate(struct qib_pportdata *ppd, u32 state, int msecs)
{
	return ppd->lflags & state ? 0 : -ETIMEDOUT;	/* changes are immediate here */
}

int qib_set_linkstate(struct qib_pportdata *ppd, u8 newstate)
{
	switch (newstate) {
	case QIB_IB_LINKDOWN_ONLY:
	case QIB_IB_LINKDOWN:
	case QIB_IB_LINKDOWN_SLEEP:
		vq_linkdown(ppd, IB_LINKINITCMD_POLL);
		return 0;
	case QIB_IB_LINKDOWN_DISABLE:
		vq_linkdown(ppd, IB_LINKINITCMD_DISABLE);
		return 0;
	case QIB_IB_LINKARM:
		if (ppd->lflags & QIBL_LINKARMED)
			return 0;
		if (!(ppd->lflags & (QIBL_LINKINIT | QIBL_LINKACTIVE)))
			return -EINVAL;
		vq_setstate(ppd, IB_PORT_ARMED, IB_PHYSPORTSTATE_LINKUP);
		return 0;
	case QIB_IB_LINKACTIVE:
		if (ppd->lflags & QIBL_LINKACTIVE)
			return 0;
		if (!(ppd->lflags & QIBL_LINKARMED))
			return -EINVAL;
		vq_setstate(ppd, IB_PORT_ACTIVE, IB_PHYSPORTSTATE_LINKUP);
		return 0;
	default:
		return -EINVAL;
	}
}

int qib_set_mtu(struct qib_pportdata *ppd, u16 arg)
{
	if (arg != 256 && arg != 512 && arg != 1024 && arg != 2048 && arg != 4096)
		return -EINVAL;
	if (arg > ib_mtu_enum_to_int(qib_ibmtu))
		return -EINVAL;
	ppd->ibmtu = arg;
	return 0;
}

int qib_set_lid(struct qib_pportdata *ppd, u32 lid, u8 lmc)
{
	ppd->lid = lid;
	ppd->lmc = lmc;
	pr_info("vqib%d: lid 0x%x lmc %u\n", ppd->dd->unit, lid, lmc);
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

/* rdmavt only uses it to print */
struct pci_dev *qib_get_pci_dev(struct rvt_dev_info *rdi)
{
	return vq_fakepci;
}

static u32 vf_iblink_state(u64 st) { return st & 0xff; }
static u8 vf_ibphys_portstate(u64 st) { return st >> 8; }

static int vf_get_ib_cfg(struct qib_pportdata *ppd, int which)
{
	switch (which) {
	case QIB_IB_CFG_OP_VLS: return ppd->vls_operational;
	case QIB_IB_CFG_VL_HIGH_CAP: return 8;
	case QIB_IB_CFG_VL_LOW_CAP: return 8;
	case QIB_IB_CFG_OVERRUN_THRESH: return ppd->cpspec->ore;
	case QIB_IB_CFG_PHYERR_THRESH: return ppd->cpspec->phyerr;
	case QIB_IB_CFG_LINKDEFAULT: return ppd->cpspec->linkdef;
	case QIB_IB_CFG_LINKLATENCY: return 0;
	case QIB_IB_CFG_PMA_TICKS: return 1;
	default: return 0;
	}
}

static int vf_set_ib_cfg(struct qib_pportdata *ppd, int which, u32 val)
{
	switch (which) {
	case QIB_IB_CFG_LWID_ENB: ppd->link_width_enabled = val; break;
	case QIB_IB_CFG_SPD_ENB: ppd->link_speed_enabled = val; break;
	case QIB_IB_CFG_OP_VLS: ppd->vls_operational = val; break;
	case QIB_IB_CFG_OVERRUN_THRESH: ppd->cpspec->ore = val; break;
	case QIB_IB_CFG_PHYERR_THRESH: ppd->cpspec->phyerr = val; break;
	case QIB_IB_CFG_LINKDEFAULT: ppd->cpspec->linkdef = val; break;
	}
	return 0;
}

static int vf_get_ib_table(struct qib_pportdata *ppd, int which, void *t)
{
	memcpy(t, ppd->cpspec->vlarb[which == QIB_IB_TBL_VL_HIGH_ARB], 64);
	return 0;
}

static int vf_set_ib_table(struct qib_pportdata *ppd, int which, void *t)
{
	memcpy(ppd->cpspec->vlarb[which == QIB_IB_TBL_VL_HIGH_ARB], t, 64);
	return 0;
}

static void vf_set_cntr_sample(struct qib_pportdata *ppd, u32 a, u32 b) { }
static void vf_wantpiobuf_intr(struct qib_devdata *dd, u32 a) { }

static u64 vf_portcntr(struct qib_pportdata *ppd, u32 reg)
{
	struct qib_chippport_specific *c = ppd->cpspec;

	switch (reg) {
	case QIBPORTCNTR_PKTSEND: return c->txpkts;
	case QIBPORTCNTR_WORDSEND: return c->txwords;
	case QIBPORTCNTR_PKTRCV: return c->rxpkts;
	case QIBPORTCNTR_WORDRCV: return c->rxwords;
	case QIBPORTCNTR_RXDROPPKT: return c->rxdrop;
	case QIBPORTCNTR_IBLINKDOWN: return c->linkdown;
	case QIBPORTCNTR_UNSUPVL: return c->txdisc;
	default: return 0;
	}
}

static struct attribute *vq_attrs[] = { NULL };
const struct attribute_group qib_attr_group = { .attrs = vq_attrs };
const struct attribute_group *qib_attr_port_groups[] = { NULL };

/* --------------------------------------------------------------- the switch */
#include "vqib_switch.c"

static void vq_to_wire(struct qib_pportdata *ppd, struct vpkt *p)
{
	int u = ppd->dd->unit;

	if (topo == 0) {
		struct qib_devdata *o = vq_dd[u ^ 1];

		if (!o) {
			kfree(p);
			return;
		}
		vq_rx_enqueue(o->pport->cpspec, p);
	} else {
		sw_rx(u + 1, p);
	}
}

/* ------------------------------------------------------------- set up, exit */

static void vq_free(struct qib_devdata *dd)
{
	struct qib_pportdata *ppd = dd->pport;
	struct qib_chippport_specific *ep = ppd->cpspec;

	if (ep) {
		struct vpkt *p, *n;
		unsigned long flags;

		spin_lock_irqsave(&ep->lock, flags);
		ep->dead = true;
		spin_unlock_irqrestore(&ep->lock, flags);
		cancel_delayed_work_sync(&ep->linkwork);
		cancel_work_sync(&ep->rxwork);
		list_for_each_entry_safe(p, n, &ep->rxq, list)
			kfree(p);
		kfree(ep);
	}
	if (ppd->qib_wq)
		destroy_workqueue(ppd->qib_wq);
	free_percpu(ppd->ibport_data.pmastats);
	free_percpu(ppd->ibport_data.rvp.rc_acks);
	free_percpu(ppd->ibport_data.rvp.rc_qacks);
	free_percpu(ppd->ibport_data.rvp.rc_delayed_comp);
	if (dd->rcd && dd->rcd[0]) {
		kfree(dd->rcd[0]->opstats);
		kfree(dd->rcd[0]);
	}
	kfree(dd->rcd);
	rvt_dealloc_device(&dd->verbs_dev.rdi);
}

static struct qib_devdata *vq_create(int unit)
{
	struct qib_devdata *dd;
	struct qib_pportdata *ppd;
	struct qib_chippport_specific *ep;
	struct qib_ctxtdata *rcd;

	dd = (struct qib_devdata *)rvt_alloc_device(sizeof(*dd) + sizeof(*ppd), 1);
	if (!dd)
		return NULL;
	dd->unit = unit;
	dd->num_pports = 1;
	ppd = dd->pport = (struct qib_pportdata *)(dd + 1);
	dd->pcidev = vq_pdev[unit];
	dd->flags = QIB_PRESENT | QIB_INITTED;
	dd->vendorid = 0x1077;
	dd->deviceid = 0x7322;
	dd->assigned_node_id = 0;
	dd->minrev = 1;
	dd->majrev = 7;
	dd->f_iblink_state = vf_iblink_state;
	dd->f_ibphys_portstate = vf_ibphys_portstate;
	dd->f_get_ib_cfg = vf_get_ib_cfg;
	dd->f_set_ib_cfg = vf_set_ib_cfg;
	dd->f_get_ib_table = vf_get_ib_table;
	dd->f_set_ib_table = vf_set_ib_table;
	dd->f_portcntr = vf_portcntr;
	dd->f_set_cntr_sample = vf_set_cntr_sample;
	dd->f_wantpiobuf_intr = vf_wantpiobuf_intr;
	rvt_set_ibdev_name(&dd->verbs_dev.rdi, "%s%d", "vqib", unit);

	ppd->dd = dd;
	ppd->hw_pidx = 0;
	ppd->port = 1;
	spin_lock_init(&ppd->sdma_lock);
	spin_lock_init(&ppd->lflags_lock);
	spin_lock_init(&ppd->cc_shadow_lock);
	init_waitqueue_head(&ppd->state_wait);
	ppd->guid = cpu_to_be64(0x0011750000000100ULL + unit * 0x10);
	dd->base_guid = ppd->guid;
	ppd->ibmtu = ib_mtu_enum_to_int(qib_ibmtu);
	ppd->ibmaxlen = ppd->init_ibmaxlen = 8192;
	ppd->link_width_supported = IB_WIDTH_1X | IB_WIDTH_4X;
	ppd->link_width_enabled = ppd->link_width_supported;
	ppd->link_width_active = IB_WIDTH_4X;
	ppd->link_speed_supported = QIB_IB_SDR | QIB_IB_DDR | QIB_IB_QDR;
	ppd->link_speed_enabled = ppd->link_speed_supported;
	ppd->link_speed_active = QIB_IB_QDR;
	ppd->vls_supported = vlcap;
	ppd->vls_operational = vlcap;
	ppd->delay_mult = 1;
	ppd->lflags = QIBL_LINKDOWN;
	ppd->lastibcstat = mkstat(IB_PORT_DOWN, IB_PHYSPORTSTATE_POLL);
	ppd->ibport_data.pmastats = alloc_percpu(struct qib_pma_counters);
	ppd->ibport_data.rvp.rc_acks = alloc_percpu(u64);
	ppd->ibport_data.rvp.rc_qacks = alloc_percpu(u64);
	ppd->ibport_data.rvp.rc_delayed_comp = alloc_percpu(u64);
	ppd->qib_wq = alloc_workqueue("vqib%d_tx", WQ_HIGHPRI | WQ_MEM_RECLAIM, 1, unit);
	ep = ppd->cpspec = kzalloc(sizeof(*ep), GFP_KERNEL);
	dd->rcd = kcalloc(1, sizeof(*dd->rcd), GFP_KERNEL);
	rcd = kzalloc(sizeof(*rcd), GFP_KERNEL);
	if (!ppd->ibport_data.pmastats || !ppd->ibport_data.rvp.rc_acks || !ppd->qib_wq ||
	    !ppd->ibport_data.rvp.rc_qacks || !ppd->ibport_data.rvp.rc_delayed_comp ||
	    !ep || !dd->rcd || !rcd) {
		vq_free(dd);
		return NULL;
	}
	ep->ppd = ppd;
	ep->linkdef = IB_LINKINITCMD_POLL;
	ep->ore = ep->phyerr = 15;
	spin_lock_init(&ep->lock);
	INIT_LIST_HEAD(&ep->rxq);
	INIT_WORK(&ep->rxwork, vq_rxwork);
	INIT_DELAYED_WORK(&ep->linkwork, vq_linkwork);
	dd->rcd[0] = rcd;
	INIT_LIST_HEAD(&rcd->qp_wait_list);
	rcd->ppd = ppd;
	rcd->dd = dd;
	rcd->cnt = 1;
	rcd->pkeys[0] = QIB_DEFAULT_P_KEY;
	rcd->opstats = kzalloc(sizeof(*rcd->opstats), GFP_KERNEL);
	if (!rcd->opstats) {
		vq_free(dd);
		return NULL;
	}
	return dd;
}

static void vq_destroy_all(void)
{
	int i;

	for (i = 0; i < nhca; i++)
		if (vq_dd[i])
			qib_unregister_ib_device(vq_dd[i]);
	for (i = 0; i < nhca; i++)
		if (vq_dd[i]) {
			vq_dd[i]->pport->cpspec->dead = true;
			cancel_delayed_work_sync(&vq_dd[i]->pport->cpspec->linkwork);
		}
	sw_exit();
	for (i = 0; i < nhca; i++)
		if (vq_dd[i])
			cancel_work_sync(&vq_dd[i]->pport->cpspec->rxwork);
	for (i = 0; i < nhca; i++) {
		struct qib_devdata *dd = vq_dd[i];

		if (dd) {
			vq_dd[i] = NULL;
			vq_free(dd);
		}
		if (vq_pdev[i])
			platform_device_unregister(vq_pdev[i]);
	}
	if (vq_rxwq)
		destroy_workqueue(vq_rxwq);
	kfree(vq_fakepci);
}

static int __init vqib_init(void)
{
	int i, ret;

	if (nhca < 2 || nhca > VQ_MAXHCA)
		return -EINVAL;
	if (topo == 0)
		nhca = 2;
	if (qib_ibmtu < 1 || qib_ibmtu > 5)
		qib_ibmtu = 5;
	vq_crc_init();
	vq_fakepci = kzalloc(sizeof(*vq_fakepci), GFP_KERNEL);
	vq_rxwq = alloc_workqueue("vqib_rx", WQ_HIGHPRI | WQ_UNBOUND, 0);
	if (!vq_fakepci || !vq_rxwq) {
		ret = -ENOMEM;
		goto fail;
	}
	vq_fakepci->dev.init_name = "vqib";
	ret = sw_init();
	if (ret)
		goto fail;
	for (i = 0; i < nhca; i++) {
		struct platform_device *pd = platform_device_register_simple("vqib", i, NULL, 0);

		if (IS_ERR(pd)) {
			ret = PTR_ERR(pd);
			goto fail;
		}
		vq_pdev[i] = pd;
	}
	for (i = 0; i < nhca; i++) {
		struct qib_devdata *dd = vq_create(i);

		if (!dd) {
			ret = -ENOMEM;
			goto fail;
		}
		ret = qib_register_ib_device(dd);
		if (ret) {
			vq_free(dd);
			goto fail;
		}
		vq_dd[i] = dd;
	}
	ret = misc_register(&cap_misc);
	if (ret)
		goto fail;
	for (i = 0; i < nhca; i++)
		schedule_delayed_work(&vq_dd[i]->pport->cpspec->linkwork, topo ? 1 : i);
	pr_info("vqib: %u virtual HCAs, %s\n", nhca, topo ? "one switch" : "back to back");
	return 0;
fail:
	vq_destroy_all();
	return ret;
}

static void __exit vqib_exit(void)
{
	misc_deregister(&cap_misc);
	vq_destroy_all();
}

module_init(vqib_init);
module_exit(vqib_exit);
