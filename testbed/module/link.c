// SPDX-License-Identifier: GPL-2.0
/*
 * vqib: link training and port states (IBA 7.2). A link trains at once where both ends want it:
 * there is a cable, and neither is disabled. Both ends are Down, or neither is.
 */
#include "vqib.h"

static DEFINE_SPINLOCK(vqib_link_lock);

static u32 lflag_of(u8 log)
{
	switch (log) {
	case IB_PORT_ACTIVE:
		return QIBL_LINKACTIVE;
	case IB_PORT_ARMED:
		return QIBL_LINKARMED;
	case IB_PORT_INIT:
		return QIBL_LINKINIT;
	default:
		return QIBL_LINKDOWN;
	}
}

/* qib's own idea of the state, and the events that the verbs' users wait for */
static void report_hca(struct vqib_end *end, u8 old)
{
	struct qib_pportdata *ppd = end->ppd;
	struct ib_event event = {
		.device = &ppd->dd->verbs_dev.rdi.ibdev,
		.element.port_num = ppd->port,
	};
	unsigned long flags;

	spin_lock_irqsave(&ppd->lflags_lock, flags);
	ppd->lflags &= ~(QIBL_LINKACTIVE | QIBL_LINKARMED | QIBL_LINKINIT | QIBL_LINKDOWN);
	ppd->lflags |= lflag_of(end->log) | QIBL_LINKV;
	ppd->lastibcstat = end->log | end->phys << 8;
	spin_unlock_irqrestore(&ppd->lflags_lock, flags);
	if ((end->log == IB_PORT_ACTIVE) == (old == IB_PORT_ACTIVE))
		return;
	event.event = end->log == IB_PORT_ACTIVE ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR;
	ib_dispatch_event(&event);
}

/*
 * PortStateChange and trap 128 are for what the link does, not for Armed and Active, which are
 * the SM's doing; IBA 14.2.5.4
 */
static void report_switch(struct vqib_switch *sw)
{
	atomic_set(&sw->state_changed, 1);
	queue_work(vqib_wq, &sw->notify);
}

static void set_state(struct vqib_end *end, u8 log, u8 phys)
{
	u8 old = end->log;

	end->log = log;
	end->phys = phys;
	if (end->ppd)
		report_hca(end, old);
	else if (old != log && (old == IB_PORT_DOWN || log == IB_PORT_DOWN))
		report_switch(end->sw);
	if (log == IB_PORT_DOWN && old != IB_PORT_DOWN)
		vqib_count(end, VQIB_LINK_DOWNED);
}

static bool wants_link(const struct vqib_end *end)
{
	return end && !end->disabled && !end->unplugged && end->log == IB_PORT_DOWN;
}

static void train(struct vqib_end *end)
{
	if (!wants_link(end) || !wants_link(end->peer))
		return;
	set_state(end->peer, IB_PORT_INIT, IB_PHYSPORTSTATE_LINKUP);
	set_state(end, IB_PORT_INIT, IB_PHYSPORTSTATE_LINKUP);
}

static void go_down(struct vqib_end *end)
{
	if (!end)
		return;
	set_state(end, IB_PORT_DOWN,
		  end->disabled ? IB_PHYSPORTSTATE_DISABLED : IB_PHYSPORTSTATE_POLL);
}

/* vqib_link_start - the end is ready for its link */
void vqib_link_start(struct vqib_end *end)
{
	vqib_link_cable(end, true);
}

/**
 * vqib_link_bounce - the link goes down
 * @end: the end whose management wants it
 * @disable: it stays down until this end is bounced without this; else it trains again at once.
 *	At once, because a SubnSet(PortInfo) with PortState Down, which OpenSM sends when MTU
 *	or VLs change, must still get its answer through; a chip holds it until the link is
 *	there.
 */
void vqib_link_bounce(struct vqib_end *end, bool disable)
{
	unsigned long flags;

	spin_lock_irqsave(&vqib_link_lock, flags);
	end->disabled = disable;
	go_down(end);
	go_down(end->peer);
	train(end);
	spin_unlock_irqrestore(&vqib_link_lock, flags);
}

/**
 * vqib_link_cable - the cable is pulled, or put in again
 * @end: where
 * @in: put in
 */
void vqib_link_cable(struct vqib_end *end, bool in)
{
	unsigned long flags;

	spin_lock_irqsave(&vqib_link_lock, flags);
	if (end->unplugged == in) {
		end->unplugged = !in;
		if (!in && end->log != IB_PORT_DOWN) {
			go_down(end);
			go_down(end->peer);
		}
		train(end);
	}
	spin_unlock_irqrestore(&vqib_link_lock, flags);
}

/**
 * vqib_link_set - the SM sets the port's state
 * @end: the port
 * @log: IB_PORT_ARMED or IB_PORT_ACTIVE
 *
 * Return: false if that cannot follow the state that it has
 */
bool vqib_link_set(struct vqib_end *end, u8 log)
{
	unsigned long flags;
	bool may;
	u8 old;

	spin_lock_irqsave(&vqib_link_lock, flags);
	old = end->log;
	if (log == IB_PORT_ARMED)
		may = old != IB_PORT_DOWN;
	else
		may = log == IB_PORT_ACTIVE && (old == IB_PORT_ARMED || old == IB_PORT_ACTIVE);
	if (may && old != log)
		set_state(end, log, end->phys);
	spin_unlock_irqrestore(&vqib_link_lock, flags);
	return may;
}

/*
 * VL15 passes as soon as the link is up, the rest when the SM has made the port Active; IBA 7.2
 */
bool vqib_link_may_send(const struct vqib_end *end, const struct vqib_pkt *p)
{
	u8 log = READ_ONCE(end->log);

	return end->peer && (log == IB_PORT_ACTIVE || (log != IB_PORT_DOWN && vqib_is_vl15(p)));
}

bool vqib_link_may_receive(const struct vqib_end *end, const struct vqib_pkt *p)
{
	u8 log = READ_ONCE(end->log);

	return log == IB_PORT_ACTIVE || log == IB_PORT_ARMED ||
	       (log != IB_PORT_DOWN && vqib_is_vl15(p));
}

/* ------------------------------------------------- what ib_qib wants of it */

int qib_wait_linkstate(struct qib_pportdata *ppd, u32 state, int msecs)
{
	return ppd->lflags & state ? 0 : -ETIMEDOUT;	/* changes are immediate here */
}

int qib_set_linkstate(struct qib_pportdata *ppd, u8 newstate)
{
	struct vqib_end *end = vqib_end_of(ppd);

	switch (newstate) {
	case QIB_IB_LINKDOWN_ONLY:
	case QIB_IB_LINKDOWN:
	case QIB_IB_LINKDOWN_SLEEP:
		vqib_link_bounce(end, false);
		return 0;
	case QIB_IB_LINKDOWN_DISABLE:
		vqib_link_bounce(end, true);
		return 0;
	case QIB_IB_LINKARM:
		return vqib_link_set(end, IB_PORT_ARMED) ? 0 : -EINVAL;
	case QIB_IB_LINKACTIVE:
		return vqib_link_set(end, IB_PORT_ACTIVE) ? 0 : -EINVAL;
	default:
		return -EINVAL;
	}
}
