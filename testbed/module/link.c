// SPDX-License-Identifier: GPL-2.0
/*
 * vqib: link training and port states (IBA 7.2). A link trains at once if there is a cable and
 * neither end is disabled. Either both ends are Down, or neither is.
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

/* updates qib's copy of the state, and sends the events that users of verbs wait for */
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
 * PortStateChange and trap 128 report changes of the link, not Armed and Active, which the SM
 * sets; IBA 14.2.5.4
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
 * @end: the end whose management requests it
 * @disable: the link stays down until this end is bounced without @disable; else it trains again
 *	at once, because the response to a SubnSet(PortInfo) with PortState Down, which OpenSM
 *	sends when MTU or VLs change, must still pass. A chip delays that response until the
 *	link is up.
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
 * vqib_link_cable - unplugs the cable, or plugs it in again
 * @end: one end of the cable
 * @in: plug it in
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
 * Return: false if the port's present state does not allow this one
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
 * VL15 passes as soon as the link is up, other packets once the port is Active; IBA 7.2
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

/* ------------------------------------------------------- called by ib_qib */

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
