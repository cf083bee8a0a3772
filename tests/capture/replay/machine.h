/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The simulated device: posted receives, arriving frames, completions. machine_advance() delivers
 * the frames that are due by the clock. It is called from the program's own calls, and from a
 * thread while the program sleeps. With "thread" in the scenario only that thread calls it. Then,
 * as with hardware, the program's calls access only the two queues, without a lock.
 */
#ifndef REPLAY_MACHINE_H
#define REPLAY_MACHINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bill.h"
#include "scenario.h"

struct posted {
    uint64_t wr_id;
    uint8_t *memory;
    uint32_t len;
};

struct completion {
    uint64_t wr_id;
    enum ibv_wc_status status;
    uint32_t len;
    uint64_t time; /* CLOCK_REALTIME, ns */
    uint32_t src_qp;
    uint16_t slid;
    uint8_t sl;
    bool grh;
};

/*
 * Counters of the items that were put into a queue and taken from it: one side puts, the other
 * gets.
 */
struct ends {
    _Alignas(64) atomic_uint put;
    _Alignas(64) atomic_uint got;
};

struct machine {
    struct scenario *scenario;
    struct bill bill;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool thread_runs, thread_ends;

    struct posted *posted;   /* the program puts, the device gets */
    struct completion *done; /* the device puts, the program gets */
    struct ends posted_ends, done_ends;
    uint32_t posted_room, done_room; /* maximum number of entries */
    uint32_t posted_mask, done_mask; /* size of the array, less one: a power of two less one */

    bool flow; /* frames are delivered */
    union ibv_gid
        attached[MAX_GROUPS]; /* if not empty, only datagrams to these groups are delivered */
    int attached_count;
    bool began;         /* a flow existed: the clock runs */
    uint64_t start;     /* of the clock; CLOCK_MONOTONIC, ns */
    bool found_empty;   /* the last poll since the last burst found nothing */
    uint64_t advanced;  /* when the thread last read that clock */
    uint64_t come;      /* frames so far */
    uint64_t in_flow;   /* of these, during a flow */
    uint64_t lost;      /* of these, without a receive */
    uint64_t drop_next; /* frames to drop in any case */
    uint64_t fail_next; /* the next frame's completion status */
    uint64_t pause_end; /* CLOCK_MONOTONIC, ns: no frames before */

    atomic_bool qp_error, cq_error, poll_error, post_error, removed;
    bool has_failed; /* the queue pair, at any time */
    bool armed;
    int channel_fd, async_fd, async_in;
};

void machine_create(struct machine *m, struct scenario *s);
void machine_destroy(struct machine *m);

/*
 * The caller must hold the lock. WANTED: number of completions that the caller would take, for
 * frames that wait for receives.
 */
void machine_advance(struct machine *m, uint32_t wanted);

void machine_reset_queue(struct machine *m, uint32_t receives, uint32_t completions);

/*
 * For the program, with the lock held or with "thread". Return false if the queue is full or empty.
 */
bool machine_post(struct machine *m, uint64_t wr_id, uint8_t *memory, uint32_t len);
bool machine_take(struct machine *m, struct completion *out);

void machine_start_flow(struct machine *m);
/* Returns false if there is no room, or the group is not attached. */
bool machine_attach(struct machine *m, const union ibv_gid *mgid);
bool machine_detach(struct machine *m, const union ibv_gid *mgid);
void machine_arm(struct machine *m);

#endif
