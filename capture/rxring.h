/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A queue pair that only receives: registered memory in many entries, all of them posted, and
 * completions taken in batches. Every completion's entry is posted again, a failed one's too. What
 * the queue pair is and what is delivered to it, its owner says.
 */
#ifndef CAPTURE_RXRING_H
#define CAPTURE_RXRING_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "capture/device.h"
#include "capture/hcaclock.h"

enum {
    RX_BATCH = 64,
    RX_ENTRIES = 32768, /* if the user names no number */
};

struct rx_plan {
    unsigned entries;   /* how many receives are posted; less if the device has less */
    bool entries_asked; /* the user named the number: he is told if it is less */
    uint32_t entry_len; /* octets of an entry, a multiple of 64; see rxring_entry_len */
    bool huge_pages;
    bool addresses; /* struct rx tells where a frame came from; times are the host's then */
};

/* Where a datagram came from, as its completion tells (IBA 11.4.2.1). */
struct rx_address {
    uint32_t src_qp;
    uint16_t slid;
    uint8_t sl, path_bits; /* path_bits: of the destination LID */
    bool grh;
};

/* One completion. */
struct rx {
    uint8_t *octets; /* the entry, valid until rxring_repost */
    uint32_t len;    /* octets in it; only if status is IBV_WC_SUCCESS */
    uint64_t time;   /* nanoseconds since 1970 */
    enum ibv_wc_status status;
    uint32_t vendor_error;
    struct rx_address from; /* only if the plan asked for it */
};

struct rxring {
    struct device *device;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_cq_ex *cq_ex; /* the same, if completions carry the device's time */
    struct ibv_qp *qp;       /* the owner's, see rxring_attach */
    struct hcaclock clock;
    uint8_t *memory;
    uint32_t entries, entry_len;
    uint32_t stride; /* octets from one entry to the next */
    bool addresses;
    bool fewer;                      /* entries than were planned */
    struct ibv_recv_wr wr[RX_BATCH]; /* what is posted at a time: few, which stay in the cache */
    struct ibv_sge sge[RX_BATCH];
    uint32_t *unposted; /* entries that wait to be posted */
    uint32_t unposted_count;
    unsigned events; /* completion events not yet acknowledged */
};

/*
 * Takes memory, registers it and creates the completion queue on DEVICE. Returns false after a
 * message.
 */
bool rxring_create(struct rxring *ring, struct device *device, const struct rx_plan *plan);

/*
 * Bytes of an entry for any frame of the port's MTU, with all headers, a mirroring switch's too,
 * and CRCs; JUMBO: for longer ones.
 */
uint32_t rxring_entry_len(const struct device *device, bool jumbo);

/* The registered memory that a ring takes. entries 0: none can be registered. */
struct rx_memory {
    uint32_t entries;
    uint64_t bytes;
};

/* What rxring_create() would take: less than planned where the device or the memlock limit has
 * less. */
struct rx_memory rxring_try_memory(struct device *device, const struct rx_plan *plan);

/*
 * Ends what rxring_create began; what is not there is skipped. The queue pair must be destroyed
 * already.
 */
void rxring_destroy(struct rxring *ring);

/* Fills in a queue pair's attributes of type TYPE for the ring. */
struct ibv_qp_init_attr rxring_qp_attr(const struct rxring *ring, enum ibv_qp_type type);

/*
 * QP, in state INIT, is the ring's from now on: all entries are posted to it. Returns 0 or an error
 * number.
 */
int rxring_attach(struct rxring *ring, struct ibv_qp *qp);

/*
 * The queue pair is gone, and a new completion queue takes the old one's place. Returns false after
 * a message.
 */
bool rxring_renew(struct rxring *ring);

/* Takes up to RX_BATCH completions. Returns how many, or -1 if the queue cannot be polled. */
int rxring_poll(struct rxring *ring, struct rx out[RX_BATCH]);

/*
 * Posts again what rxring_poll gave out, and what could not be posted before. Returns 0 or an error
 * number.
 */
int rxring_repost(struct rxring *ring);

/* The channel becomes readable at the next completion. To be polled once more afterwards. */
void rxring_arm(struct rxring *ring);

/* Takes the events from the channel, which does not block. */
void rxring_disarm(struct rxring *ring);

#endif
