/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures what a capture costs: the CPU time of the program's threads from the start of the flow
 * to the end of the queue pair, without the simulated device's share. If the device has its own
 * thread, its share is that thread's CPU time. If frames are delivered in the program's calls, it
 * is the CPU time of the calling thread during the delivery, measured before and after it.
 */
#ifndef REPLAY_BILL_H
#define REPLAY_BILL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct bill {
    const char *path;        /* NULL: not measured */
    const pthread_t *player; /* the device's thread; NULL: frames are delivered in calls */
    uint64_t cpu, wall;      /* at the start, ns */
    uint64_t paused;         /* CPU time at the start of the device's share */
    uint64_t played;         /* the device's share so far */
    uint64_t late;           /* total delay of the device's thread, ns */
};

void bill_begin(struct bill *b, const char *path, const pthread_t *player);

/* Called before and after the delivery of frames in the program's calls. */
void bill_pause(struct bill *b);
void bill_go_on(struct bill *b);

/* Writes "CPU-NS WALL-NS FRAMES LOST LATE-NS" into the file. */
void bill_write(const struct bill *b, uint64_t frames, uint64_t lost);

#endif
