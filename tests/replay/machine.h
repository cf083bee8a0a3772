/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device that is played: receives that are posted, frames that come, completions that wait. Nothing runs by itself;
 * whoever calls machine_advance lets come what is due by the clock. A thread does when the program sleeps.
 */
#ifndef REPLAY_MACHINE_H
#define REPLAY_MACHINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

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
};

struct machine {
    struct scenario *scenario;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool thread_runs, thread_ends;

    struct posted *posted; /* a ring of posted_room places */
    uint32_t posted_room, posted_head, posted_count;
    struct completion *done; /* a ring of done_room places */
    uint32_t done_room, done_head, done_count;

    bool flow;           /* frames come */
    bool began;          /* a flow was there once: the clock runs */
    uint64_t start;      /* of the clock; CLOCK_MONOTONIC, ns */
    uint64_t come;       /* frames that have come */
    uint64_t lost;       /* of these, without a receive */
    uint64_t drop_next;  /* frames that are lost whatever happens */
    uint64_t fail_next;  /* the next frame's completion status */
    uint64_t pause_end;  /* CLOCK_MONOTONIC, ns: nothing comes before */
    int incident;        /* that is next, if it goes by frames */

    bool qp_error, cq_error, poll_error, post_error, removed;
    bool armed;
    int channel_fd, async_fd, async_in;
};

void machine_create(struct machine *m, struct scenario *s);
void machine_destroy(struct machine *m);

/* To be called with the lock held. WANTED: completions that the caller would take, for frames that wait for receives. */
void machine_advance(struct machine *m, uint32_t wanted);

void machine_reset_queue(struct machine *m, uint32_t receives, uint32_t completions);
void machine_post(struct machine *m, uint64_t wr_id, uint8_t *memory, uint32_t len);
void machine_start_flow(struct machine *m);
void machine_arm(struct machine *m);

uint64_t machine_monotonic(void);

#endif
