/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device that is played: receives that are posted, frames that come, completions that wait.
 * Whoever calls machine_advance lets come what is due by the clock: the program's own calls, and a
 * thread when the program sleeps. With "thread" in the scenario it is that thread alone, and as
 * with hardware the program's calls touch nothing but the two queues, without a lock.
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

/* The ends of a queue, in items since it was made: one side puts, the other gets. */
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
    uint32_t posted_room, done_room; /* at most so many in each */
    uint32_t posted_mask, done_mask; /* places there are, less one: a power of two */

    bool flow; /* frames come */
    union ibv_gid
        attached[MAX_GROUPS]; /* if there are any, what is sent to them comes, as datagrams */
    int attached_count;
    bool began;         /* a flow was there once: the clock runs */
    uint64_t start;     /* of the clock; CLOCK_MONOTONIC, ns */
    bool found_empty;   /* the program has polled in vain since the last burst */
    uint64_t advanced;  /* when the thread last looked at that clock */
    uint64_t come;      /* frames that have come */
    uint64_t heard;     /* of these, while there was a flow */
    uint64_t lost;      /* of these, without a receive */
    uint64_t drop_next; /* frames that are lost whatever happens */
    uint64_t fail_next; /* the next frame's completion status */
    uint64_t pause_end; /* CLOCK_MONOTONIC, ns: nothing comes before */

    atomic_bool qp_error, cq_error, poll_error, post_error, removed;
    bool armed;
    int channel_fd, async_fd, async_in;
};

void machine_create(struct machine *m, struct scenario *s);
void machine_destroy(struct machine *m);

/*
 * To be called with the lock held. WANTED: completions that the caller would take, for frames that
 * wait for receives.
 */
void machine_advance(struct machine *m, uint32_t wanted);

void machine_reset_queue(struct machine *m, uint32_t receives, uint32_t completions);

/* For the program; with the lock held, or "thread". False: there are too many already, or none. */
bool machine_post(struct machine *m, uint64_t wr_id, uint8_t *memory, uint32_t len);
bool machine_take(struct machine *m, struct completion *out);

void machine_start_flow(struct machine *m);
/* Returns false if there is no room, or nothing to detach. */
bool machine_attach(struct machine *m, const union ibv_gid *mgid);
bool machine_detach(struct machine *m, const union ibv_gid *mgid);
void machine_arm(struct machine *m);

#endif
