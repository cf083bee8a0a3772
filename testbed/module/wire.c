// SPDX-License-Identifier: GPL-2.0
/* vqib: packets from one end of a link to the other */
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "vqib.h"

static unsigned int rxq_max = 16384;
module_param(rxq_max, uint, 0644);
MODULE_PARM_DESC(rxq_max,
		 "receive queue limit of an HCA's port or a switch, packets; above it packets are dropped");

#define RX_BUDGET 256	/* packets before the work yields */
#define VL15_EXTRA 1024	/* VL15 has buffers of its own; IBA 7.6.4 */

struct vqib_pkt *vqib_pkt_alloc(u32 len, gfp_t gfp)
{
	struct vqib_pkt *p = kmalloc(sizeof(*p) + len + VQIB_CRCS, gfp);

	if (!p)
		return NULL;
	p->len = len;
	p->hops = 0;
	p->sealed = false;
	p->capture = false;
	return p;
}

struct vqib_pkt *vqib_pkt_copy(const struct vqib_pkt *p)
{
	return kmemdup(p, sizeof(*p) + p->len + VQIB_CRCS, GFP_ATOMIC);
}

/* ------------------------------------------------------------ receive queue */

static void rxq_work(struct work_struct *work)
{
	struct vqib_rxq *q = container_of(work, struct vqib_rxq, work);
	int budget = RX_BUDGET;
	struct vqib_pkt *p;

	while (budget--) {
		spin_lock_irq(&q->lock);
		p = list_first_entry_or_null(&q->pkts, struct vqib_pkt, list);
		if (p) {
			list_del(&p->list);
			q->depth--;
		}
		spin_unlock_irq(&q->lock);
		if (!p)
			return;
		q->receive(q, p);
	}
	queue_work(vqib_wq, &q->work);
}

void vqib_rxq_init(struct vqib_rxq *q, void (*receive)(struct vqib_rxq *q, struct vqib_pkt *p))
{
	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->pkts);
	INIT_WORK(&q->work, rxq_work);
	q->receive = receive;
}

/*
 * Drops the packets in the queue, and all later ones. After the return no packet is being received.
 */
void vqib_rxq_stop(struct vqib_rxq *q)
{
	struct vqib_pkt *p, *next;

	spin_lock_irq(&q->lock);
	q->dead = true;
	spin_unlock_irq(&q->lock);
	cancel_work_sync(&q->work);
	list_for_each_entry_safe(p, next, &q->pkts, list)
		kfree(p);
	INIT_LIST_HEAD(&q->pkts);
	q->depth = 0;
}

/* takes p over; false if the queue is full, and p is lost */
bool vqib_rxq_add(struct vqib_rxq *q, struct vqib_pkt *p)
{
	u32 limit = rxq_max + (vqib_is_vl15(p) ? VL15_EXTRA : 0);
	unsigned long flags;
	bool taken;

	spin_lock_irqsave(&q->lock, flags);
	taken = !q->dead && q->depth < limit;
	if (taken) {
		list_add_tail(&p->list, &q->pkts);
		q->depth++;
	}
	spin_unlock_irqrestore(&q->lock, flags);
	if (taken)
		queue_work(vqib_wq, &q->work);
	else
		kfree(p);
	return taken;
}

/* delivers the packet, which has arrived at p->at; takes it over */
void vqib_arrive(struct vqib_pkt *p)
{
	struct vqib_end *end = p->at;

	if (p->capture)
		vqib_capture(p);
	if (!vqib_rxq_add(end->rxq, p))
		vqib_count(end, VQIB_RX_DISCARDS);
}

/* -------------------------------------------------------------- delay line */

static enum hrtimer_restart line_due(struct hrtimer *timer)
{
	struct vqib_line *line = container_of(timer, struct vqib_line, timer);
	struct vqib_pkt *p, *next;
	unsigned long flags;
	LIST_HEAD(due);

	spin_lock_irqsave(&line->lock, flags);
	list_for_each_entry_safe(p, next, &line->pkts, list) {
		if (ktime_after(p->due, ktime_get())) {
			hrtimer_start(timer, p->due, HRTIMER_MODE_ABS);
			break;
		}
		list_move_tail(&p->list, &due);
		line->depth--;
	}
	spin_unlock_irqrestore(&line->lock, flags);
	list_for_each_entry_safe(p, next, &due, list)
		vqib_arrive(p);
	return HRTIMER_NORESTART;
}

/* takes p over; packets that are due at the same time stay in order */
static void hold(struct vqib_end *from, struct vqib_pkt *p, u64 us)
{
	struct vqib_line *line = &from->line;
	struct vqib_pkt *before;
	unsigned long flags;

	p->due = ktime_add_us(ktime_get(), us);
	spin_lock_irqsave(&line->lock, flags);
	if (line->depth >= rxq_max) {
		spin_unlock_irqrestore(&line->lock, flags);
		vqib_count(from, VQIB_LOST);
		kfree(p);
		return;
	}
	list_for_each_entry_reverse(before, &line->pkts, list)
		if (!ktime_after(before->due, p->due))
			break;
	list_add(&p->list, &before->list);
	line->depth++;
	if (list_is_first(&p->list, &line->pkts))
		hrtimer_start(&line->timer, p->due, HRTIMER_MODE_ABS);
	spin_unlock_irqrestore(&line->lock, flags);
}

void vqib_end_init(struct vqib_end *end, struct vqib_rxq *q)
{
	end->rxq = q;
	end->log = IB_PORT_DOWN;
	end->phys = IB_PHYSPORTSTATE_POLL;
	end->unplugged = true;		/* until vqib_link_start() */
	spin_lock_init(&end->line.lock);
	INIT_LIST_HEAD(&end->line.pkts);
	hrtimer_init(&end->line.timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	end->line.timer.function = line_due;
	vqib_fault_init(end);
}

/* stops sending by the end and drops the packets that it delays; its link is down already */
void vqib_end_stop(struct vqib_end *end)
{
	struct vqib_pkt *p, *next;

	hrtimer_cancel(&end->line.timer);
	list_for_each_entry_safe(p, next, &end->line.pkts, list)
		kfree(p);
	INIT_LIST_HEAD(&end->line.pkts);
	vqib_rewrite_clear(end);
}

/* ----------------------------------------------------------------- sending */

/* takes p over */
static void depart(struct vqib_end *from, struct vqib_pkt *p, bool late)
{
	bool spared = vqib_is_vl15(p) && !READ_ONCE(from->faults.vl15);
	u64 us = spared ? 0 : READ_ONCE(from->faults.delay_us);

	if (late)
		us += READ_ONCE(from->faults.reorder_us);
	if (us)
		hold(from, p, us);
	else
		vqib_arrive(p);
}

/**
 * vqib_send - sends a packet to the other end of the link
 * @from: the end that it leaves by
 * @p: the packet; this function frees or queues it
 * @enters: the packet enters the fabric here; false: it is forwarded
 */
void vqib_send(struct vqib_end *from, struct vqib_pkt *p, bool enters)
{
	struct vqib_pkt *copy = NULL;
	bool seen;
	u32 fate;

	if (!vqib_link_may_send(from, p)) {
		vqib_count(from, VQIB_TX_DISCARDS);
		kfree(p);
		return;
	}
	vqib_count(from, VQIB_TX_PKTS);
	atomic64_add((p->len + 4) >> 2, &from->count[VQIB_TX_WORDS]);
	p->at = from->peer;
	if (from->ppd)
		vqib_sniff(from, p);
	fate = vqib_fault(from, p);
	seen = vqib_capture_wants(enters) || fate & VQIB_FATE_CORRUPT;
	if (seen && vqib_capture_sender_view()) {
		vqib_capture(p);
		seen = false;
	}
	p->capture = seen;
	if (fate & VQIB_FATE_CORRUPT)
		vqib_count(from, VQIB_CORRUPTED);
	if (fate & VQIB_FATE_LOST) {
		vqib_count(from, VQIB_LOST);
		kfree(p);
		return;
	}
	if (fate & VQIB_FATE_LATE)
		vqib_count(from, VQIB_REORDERED);
	if (fate & VQIB_FATE_TWICE)
		copy = vqib_pkt_copy(p);
	depart(from, p, fate & VQIB_FATE_LATE);
	if (copy) {
		vqib_count(from, VQIB_DUPLICATED);
		depart(from, copy, false);
	}
}

/**
 * vqib_link_layer_ok - makes the checks of a port on every packet that arrives: IBA 7.4
 * @end: the port
 * @p: the packet; the caller keeps it
 * @mtu: the port's, octets
 *
 * Return: whether the packet may pass; if not, it has been counted
 */
bool vqib_link_layer_ok(struct vqib_end *end, struct vqib_pkt *p, u32 mtu)
{
	u32 pktlen;

	if (!vqib_vcrc_ok(p)) {
		vqib_count(end, VQIB_BAD_VCRC);
		return false;
	}
	if (!vqib_link_may_receive(end, p)) {
		vqib_count(end, VQIB_RX_DISCARDS);
		return false;
	}
	if (vqib_is_vl15(p))
		mtu = IB_MGMT_MAD_SIZE;
	pktlen = (get_unaligned_be16(p->data + 4) & 0x7ff) << 2;	/* LRH to ICRC */
	if (pktlen != p->len + 4 || p->len < VQIB_LRH + VQIB_BTH || pktlen > mtu + VQIB_OVERHEAD) {
		vqib_count(end, VQIB_BAD_LENGTH);
		return false;
	}
	vqib_count(end, VQIB_RX_PKTS);
	atomic64_add(pktlen >> 2, &end->count[VQIB_RX_WORDS]);
	return true;
}
