/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vqib: virtual InfiniBand HCAs and switches: the interfaces between its files.
 *
 *   topology.c    the HCAs, switches and cables; loading and unloading of the module
 *   chip.c        the HCA's chip, as the transport of the kernel's ib_qib driver sees it
 *   link.c        link training and port states
 *   wire.c        packets: sending, queues, delivery
 *   fault.c       faults of a cable: loss, duplicates, delay, bit errors
 *   rewrite.c     rules that change packets on the way
 *   crc.c         ICRC and VCRC
 *   capture.c     /dev/vqib_wire: every packet as a pcap stream, and injection
 *   sniffer.c     copies of a port's packets to a queue pair: verbs flow steering of type sniffer
 *   switch.c      forwarding
 *   switch_sma.c  the switch's subnet management agent
 *   switch_pma.c  the switch's performance management agent
 *   control.c     debugfs: cables, faults, counters
 *
 * Terms: an "end" is one end of a link, that is the port of an HCA ("h0") or an external port of
 * a switch ("s0.1"). The two ends of a cable are each other's peer.
 */
#ifndef VQIB_H
#define VQIB_H

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/prandom.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_smi.h>

#include "qib.h"

#define VQIB_MAX_HCAS		16
#define VQIB_MAX_SWITCHES	8
#define VQIB_MAX_PORTS		31	/* with port 0 they fit an MFT entry's u32 */
#define VQIB_PKEYS		VQIB_NPKEYS	/* of a port, HCA's or switch's */

#define VQIB_LRH		8	/* octets; IBA 7.7 */
#define VQIB_GRH		40	/* IBA 8.3 */
#define VQIB_BTH		12	/* IBA 9.2 */
#define VQIB_CRCS		6	/* ICRC and VCRC */
#define VQIB_OVERHEAD		124	/* PktLen is at most (MTU + 124) / 4; IBA 7.7.8 */
#define VQIB_MAX_PKT		(4096 + VQIB_OVERHEAD)
#define VQIB_SMP_PKT		(VQIB_LRH + VQIB_BTH + 8 + IB_MGMT_MAD_SIZE)	/* with DETH */

struct vqib_end;
struct vqib_switch;

/**
 * struct vqib_pkt - a packet
 * @list: in one queue at a time
 * @at: the end that it arrives at
 * @due: when it leaves the delay line
 * @len: octets from LRH to payload and pad, without the CRCs
 * @hops: number of switches that it has crossed
 * @sealed: ICRC and VCRC follow in @data; else they are right by definition, and computed when
 *	needed
 * @capture: to be captured when it arrives
 * @data: @len octets and room for VQIB_CRCS
 */
struct vqib_pkt {
	struct list_head list;
	struct vqib_end *at;
	ktime_t due;
	u32 len;
	u8 hops;
	bool sealed;
	bool capture;
	u8 data[];
};

static inline u8 vqib_lnh(const struct vqib_pkt *p)
{
	return p->data[1] & 3;
}

static inline bool vqib_is_vl15(const struct vqib_pkt *p)
{
	return p->data[0] >> 4 == 15;
}

/* octets before the BTH */
static inline u32 vqib_bth_at(const struct vqib_pkt *p)
{
	return vqib_lnh(p) == QIB_LRH_GRH ? VQIB_LRH + VQIB_GRH : VQIB_LRH;
}

/* queue of packets that arrive at an HCA's port or at a switch */
struct vqib_rxq {
	spinlock_t lock;		/* all below */
	struct list_head pkts;
	u32 depth;
	bool dead;
	struct work_struct work;
	void (*receive)(struct vqib_rxq *q, struct vqib_pkt *p);	/* takes p over */
};

/* packets that the cable delays, sorted by the time when they are due */
struct vqib_line {
	spinlock_t lock;		/* protects all below, and the random numbers of the end */
	struct list_head pkts;
	u32 depth;
	struct hrtimer timer;
};

/* faults of packets that leave by an end; u32 for debugfs */
struct vqib_faults {
	u32 loss_ppm;
	u32 dup_ppm;
	u32 reorder_ppm;		/* delayed so that later packets overtake them ... */
	u32 reorder_us;			/* ... for that long */
	u32 delay_us;
	u32 icrc_ppm;			/* corrupted in the device: right VCRC, wrong ICRC */
	u32 vcrc_ppm;			/* corrupted on the cable: wrong VCRC */
	u32 drop_next;			/* number of next packets to lose */
	u32 vl15;			/* also packets on VL15 */
};

enum vqib_counter {
	VQIB_TX_PKTS, VQIB_TX_WORDS, VQIB_RX_PKTS, VQIB_RX_WORDS,
	VQIB_TX_DISCARDS,		/* the link was down, or not active */
	VQIB_RX_DISCARDS,		/* the port was not ready, or its queue full */
	VQIB_BAD_VCRC, VQIB_BAD_ICRC, VQIB_BAD_LENGTH, VQIB_BAD_FORMAT,
	VQIB_NO_ROUTE,			/* switch: no entry for the DLID, or too many hops */
	VQIB_RX_CONSTRAINT,		/* switch: P_Key rejected at the input port */
	VQIB_TX_CONSTRAINT,		/* switch: P_Key rejected at the output port */
	VQIB_LINK_DOWNED,
	VQIB_SNIFFER_MISSED,
	VQIB_LOST, VQIB_DUPLICATED, VQIB_REORDERED, VQIB_CORRUPTED,
	VQIB_COUNTERS
};

/**
 * struct vqib_end - one end of a link
 * @name: "h0" or "s0.1"
 * @peer: the other end; NULL if there is no cable
 * @ppd: of an HCA's port, else NULL
 * @sw: the switch of a switch's port, else NULL
 * @port: port number
 * @rxq: queue of packets that arrive here
 * @log: port state, IB_PORT_...; this and the next three are changed under vqib_link_lock
 * @phys: port physical state, IB_PHYSPORTSTATE_...
 * @disabled: management has taken the port down until it enables it again
 * @unplugged: the cable is unplugged
 * @faults: faults of packets that leave here
 * @rewrites: rules for packets that leave here (rewrite.c), under @line.lock
 * @line: packets that have left here and are delayed
 * @rnd: random numbers that select the packets for faults, under @line.lock
 * @count: see &enum vqib_counter
 */
struct vqib_end {
	char name[8];
	struct vqib_end *peer;
	struct qib_pportdata *ppd;
	struct vqib_switch *sw;
	u8 port;
	struct vqib_rxq *rxq;
	u8 log;
	u8 phys;
	bool disabled;
	bool unplugged;
	struct vqib_faults faults;
	struct list_head rewrites;
	struct vqib_line line;
	struct rnd_state rnd;
	atomic64_t count[VQIB_COUNTERS];
};

static inline void vqib_count(struct vqib_end *end, enum vqib_counter c)
{
	atomic64_inc(&end->count[c]);
}

/* qib's name for the chip's data per port */
struct qib_chippport_specific {
	struct vqib_end end;
	struct vqib_rxq rxq;
	u8 linkdef;
	u8 overrun_threshold;
	u8 phyerr_threshold;
	u8 vlarb[2][64];
	struct list_head sniffers;	/* sniffer.c */
};

static inline struct vqib_end *vqib_end_of(struct qib_pportdata *ppd)
{
	return &ppd->cpspec->end;
}

/* SwitchInfo; IBA 14.2.5.4 */
struct vqib_switch_info {
	__be16 lin_cap, rand_cap, mcast_cap, lin_top;
	u8 def_port, def_mcast_prim, def_mcast_not, life_state;
	__be16 lids_per_port, part_enf_cap;
	u8 flags, resv;
	__be16 mcast_top;
} __packed;

#define VQIB_PORT_STATE_CHANGE	4	/* in life_state */
#define VQIB_LFT_SIZE		0xC000	/* entries, one for each unicast LID */
#define VQIB_MFT_SIZE		1024
#define VQIB_NO_PORT		255	/* in the LFT */

/* a port of a switch; port 0 has end and tables too, but no link */
struct vqib_switch_port {
	struct vqib_end end;
	struct ib_port_info info;
	__be16 pkeys[VQIB_PKEYS];
	u8 sl2vl[8];
	u8 vlarb[4][64];
};

/*
 * A switch. Only the work of its receive queue changes it, except for the state of the ends and
 * @notify (atomic), which link.c changes.
 */
struct vqib_switch {
	unsigned int number;
	unsigned int nports;			/* number of external ports */
	struct vqib_switch_port *port;		/* 0 .. nports */
	struct vqib_rxq rxq;
	struct work_struct notify;		/* a port's state has changed */
	atomic_t state_changed;			/* PortStateChange */
	struct vqib_switch_info info;
	u8 *lft;
	u32 *mft;				/* bit n: port n */
	__be64 guid;
	char desc[64];
	u16 lid;
	u64 tid;
	u32 psn;				/* of the next packet of its queue pair 1 */
};

/* topology.c */
extern unsigned int vqib_nhcas;
extern unsigned int vqib_nswitches;
extern struct qib_devdata *vqib_hca[VQIB_MAX_HCAS];
extern struct vqib_switch *vqib_switch[VQIB_MAX_SWITCHES];
extern struct workqueue_struct *vqib_wq;
void vqib_for_each_end(void (*fn)(struct vqib_end *end));

/* chip.c */
extern unsigned int vqib_vlcap;
struct qib_devdata *vqib_chip_create(unsigned int unit);
void vqib_chip_unplug(struct qib_devdata *dd);
void vqib_chip_free(struct qib_devdata *dd);
int vqib_chip_init(void);
void vqib_chip_exit(void);

/* link.c */
void vqib_link_start(struct vqib_end *end);
void vqib_link_bounce(struct vqib_end *end, bool disable);
void vqib_link_cable(struct vqib_end *end, bool in);
bool vqib_link_set(struct vqib_end *end, u8 log);
bool vqib_link_may_send(const struct vqib_end *end, const struct vqib_pkt *p);
bool vqib_link_may_receive(const struct vqib_end *end, const struct vqib_pkt *p);

/* wire.c */
struct vqib_pkt *vqib_pkt_alloc(u32 len, gfp_t gfp);
struct vqib_pkt *vqib_pkt_copy(const struct vqib_pkt *p);
void vqib_rxq_init(struct vqib_rxq *q, void (*receive)(struct vqib_rxq *q, struct vqib_pkt *p));
bool vqib_rxq_add(struct vqib_rxq *q, struct vqib_pkt *p);
void vqib_rxq_stop(struct vqib_rxq *q);
void vqib_end_init(struct vqib_end *end, struct vqib_rxq *q);
void vqib_end_stop(struct vqib_end *end);
void vqib_send(struct vqib_end *from, struct vqib_pkt *p, bool enters);
void vqib_arrive(struct vqib_pkt *p);
bool vqib_link_layer_ok(struct vqib_end *end, struct vqib_pkt *p, u32 mtu);

/* fault.c */
enum vqib_fate {
	VQIB_FATE_LOST = 1, VQIB_FATE_TWICE = 2, VQIB_FATE_LATE = 4, VQIB_FATE_CORRUPT = 8,
};

void vqib_fault_init(struct vqib_end *end);
u32 vqib_fault(struct vqib_end *from, struct vqib_pkt *p);

/* rewrite.c */
extern const struct file_operations vqib_rewrite_fops;
bool vqib_rewrite(struct vqib_end *from, struct vqib_pkt *p);
void vqib_rewrite_clear(struct vqib_end *end);

/* crc.c */
void vqib_crc_init(void);
void vqib_seal(struct vqib_pkt *p);
void vqib_put_vcrc(struct vqib_pkt *p);
bool vqib_vcrc_ok(const struct vqib_pkt *p);
bool vqib_icrc_ok(const struct vqib_pkt *p);

/* capture.c */
void vqib_capture(struct vqib_pkt *p);
bool vqib_capture_wants(bool enters);
bool vqib_capture_sender_view(void);
int vqib_capture_init(void);
void vqib_capture_exit(void);

/* sniffer.c; its other functions are declared in qib.h */
void vqib_sniff(struct vqib_end *end, struct vqib_pkt *p);

/* switch.c */
struct vqib_switch *vqib_switch_create(unsigned int number, unsigned int nports);
void vqib_switch_stop(struct vqib_switch *sw);
void vqib_switch_free(struct vqib_switch *sw);
void vqib_switch_out(struct vqib_switch *sw, unsigned int port, struct vqib_pkt *p, bool enters);

/* switch_sma.c */
void vqib_switch_smp(struct vqib_switch *sw, unsigned int in, struct vqib_pkt *p);
void vqib_switch_init_info(struct vqib_switch *sw);
void vqib_switch_notify(struct work_struct *work);

/* switch_pma.c */
bool vqib_is_gsi(const struct vqib_pkt *p);
void vqib_switch_gsi(struct vqib_switch *sw, unsigned int in, struct vqib_pkt *p);

/* control.c */
void vqib_control_init(void);
void vqib_control_exit(void);

#endif
