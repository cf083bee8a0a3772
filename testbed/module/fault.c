// SPDX-License-Identifier: GPL-2.0
/*
 * vqib: the faults of a cable for packets that leave by an end. The rates can change at run time
 * (control.c).
 */
#include <linux/moduleparam.h>
#include <linux/random.h>

#include "vqib.h"

#define PPM 1000000

static unsigned int loss_ppm;
module_param(loss_ppm, uint, 0644);
MODULE_PARM_DESC(loss_ppm,
		 "random loss of packets not on VL15 that an HCA sends, parts per million");
static unsigned int seed;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "of the faults' random numbers; 0: another one each time");

void vqib_fault_init(struct vqib_end *end)
{
	u32 number = end->sw ? (end->sw->number + 1) << 8 | end->port : end->ppd->dd->unit;

	prandom_seed_state(&end->rnd, seed ? (u64)seed << 16 | number : get_random_u64());
	end->faults.reorder_us = 2000;
	INIT_LIST_HEAD(&end->rewrites);
}

static bool hit(struct vqib_end *from, u32 ppm)
{
	return ppm && prandom_u32_state(&from->rnd) % PPM < ppm;
}

/* flips a bit of the octets first .. end - 1 */
static void flip(struct vqib_end *from, struct vqib_pkt *p, u32 first, u32 end)
{
	u32 r = prandom_u32_state(&from->rnd);

	p->data[first + (r >> 3) % (end - first)] ^= 1 << (r & 7);
}

/*
 * Inverts a bit after the BTH before the VCRC is computed, so that only the destination HCA detects
 * it; or any bit after the VCRC was computed, so that the next port detects it.
 */
static bool corrupt(struct vqib_end *from, struct vqib_pkt *p)
{
	u32 body = min(vqib_bth_at(p) + VQIB_BTH, p->len);
	bool device = hit(from, from->faults.icrc_ppm), cable = hit(from, from->faults.vcrc_ppm);

	if (!device && !cable)
		return false;
	vqib_seal(p);
	if (device) {
		flip(from, p, body, p->len + 4);
		vqib_put_vcrc(p);
	}
	if (cable)
		flip(from, p, 0, p->len + VQIB_CRCS);
	return true;
}

/**
 * vqib_fault - decides what happens to a packet on its link, and corrupts it if necessary
 * @from: the end that it leaves by
 * @p: the packet
 *
 * Return: bits of &enum vqib_fate; 0 if nothing happens
 */
u32 vqib_fault(struct vqib_end *from, struct vqib_pkt *p)
{
	struct vqib_faults *f = &from->faults;
	unsigned long flags;
	u32 fate = 0;

	if (vqib_is_vl15(p) && !f->vl15)
		return 0;
	spin_lock_irqsave(&from->line.lock, flags);
	if (vqib_rewrite(from, p))
		fate |= VQIB_FATE_LOST;
	if (f->drop_next) {
		f->drop_next--;
		fate |= VQIB_FATE_LOST;
	}
	if (hit(from, f->loss_ppm) || (from->ppd && !vqib_is_vl15(p) && hit(from, loss_ppm)))
		fate |= VQIB_FATE_LOST;
	if (hit(from, f->dup_ppm))
		fate |= VQIB_FATE_TWICE;
	if (hit(from, f->reorder_ppm))
		fate |= VQIB_FATE_LATE;
	if (corrupt(from, p))
		fate |= VQIB_FATE_CORRUPT;
	spin_unlock_irqrestore(&from->line.lock, flags);
	return fate;
}
