/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receive ring: registered memory in many entries, all posted to a receive-only queue pair, with
 * completions polled in batches. The entry of every completion is posted again, also of a failed
 * one. The owner of the ring creates the queue pair and decides what is delivered to it.
 */
#ifndef CAPTURE_RXRING_H
#define CAPTURE_RXRING_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "hca/device.h"
#include "capture/receive/hcaclock.h"
#include "capture/write/recorder.h"

enum {
    RX_BATCH = 64,
    RX_ENTRIES = 32768, /* default, if the user gives no number */
};

struct rx_plan {
    unsigned entries;       /* number of receives to post; fewer if the device supports fewer */
    bool entries_requested; /* the user gave the number: a smaller number is reported */
    uint32_t entry_len;     /* bytes of an entry, a multiple of 64; see rxring_entry_len */
    bool huge_pages;  /* report if the kernel has no huge pages; they are used if it has them */
    bool addresses;   /* fill in rx.from; timestamps are then the host's */
    bool whole_pages; /* each entry starts a page, as ibdump's do for the firmware's sniffer */
};

/* Source of a datagram, from its completion (IBA 11.4.2.1). */
struct rx_address {
    uint32_t src_qp;
    uint16_t slid;
    uint8_t sl, path_bits; /* path_bits: low bits of the destination LID */
    bool grh;
};

/* One completion. */
struct rx {
    /*
     * The whole entry as a frame of unknown direction; valid until rxring_repost. Its length is
     * only valid if status is IBV_WC_SUCCESS.
     */
    struct recorded_frame frame;
    enum ibv_wc_status status;
    uint32_t vendor_error;
    struct rx_address from; /* only if rx_plan.addresses is set */
};

struct rxring {
    struct device *device;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_cq_ex *cq_ex; /* the same queue, if completions carry the device's time */
    struct ibv_qp *qp;       /* owned by the caller; see rxring_attach */
    struct hcaclock clock;
    uint8_t *memory;
    uint32_t entries, entry_len;
    uint32_t stride; /* bytes from one entry to the next */
    bool addresses;
    bool fewer;                      /* fewer entries than planned */
    struct ibv_recv_wr wr[RX_BATCH]; /* one batch of receives; small, to stay in the cache */
    struct ibv_sge sge[RX_BATCH];
    uint32_t *unposted; /* numbers of the entries to post */
    uint32_t unposted_count;
    unsigned events; /* completion events not yet acknowledged */
};

/*
 * Allocates and registers memory and creates the completion queue on DEVICE. Returns false after a
 * message.
 */
bool rxring_create(struct rxring *ring, struct device *device, const struct rx_plan *plan,
                   GError **error);

/*
 * Returns the entry size in bytes for any frame of the port's MTU, including all headers, those of
 * a mirroring switch, and CRCs. JUMBO: size for longer frames.
 */
uint32_t rxring_entry_len(const struct device *device, bool jumbo);

/* Registered memory of a ring. entries 0: none can be registered. */
struct rx_memory {
    uint32_t entries;
    uint64_t bytes;
};

/*
 * Tests what rxring_create() would allocate: less than planned if the device or the memlock limit
 * allows less.
 */
struct rx_memory rxring_try_memory(struct device *device, const struct rx_plan *plan);

/*
 * Frees what rxring_create allocated; members that are NULL are skipped. The queue pair must
 * already be destroyed.
 */
void rxring_destroy(struct rxring *ring);

/* Returns the attributes to create a queue pair of type TYPE for the ring. */
struct ibv_qp_init_attr rxring_qp_attr(const struct rxring *ring, enum ibv_qp_type type);

/*
 * Assigns QP, in state INIT or later, to the ring and posts all entries. Returns 0 or an errno
 * value.
 */
int rxring_attach(struct rxring *ring, struct ibv_qp *qp);

/*
 * Replaces the completion queue after the queue pair has been destroyed. Returns false after a
 * message.
 */
bool rxring_renew(struct rxring *ring, GError **error);

/* Polls up to RX_BATCH completions. Returns their number, or -1 if the queue cannot be polled. */
int rxring_poll(struct rxring *ring, struct rx out[RX_BATCH]);

/*
 * Posts the entries that rxring_poll returned, and any left over from earlier calls. Returns 0 or
 * an errno value.
 */
int rxring_repost(struct rxring *ring);

/*
 * Arms the completion channel: it becomes readable at the next completion. Poll once more after
 * this call.
 */
void rxring_arm(struct rxring *ring);

/* Reads all events from the channel; does not block. */
void rxring_disarm(struct rxring *ring);

#endif
