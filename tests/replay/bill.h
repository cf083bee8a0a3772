/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a capture costs: the processor time of the program's threads between the flow's beginning
 * and the queue pair's end, without the player's share. If the player has a thread of its own, that
 * is this thread's time; if frames come within the program's calls, it is the calling thread's time
 * while they do, read before and after.
 */
#ifndef REPLAY_BILL_H
#define REPLAY_BILL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct bill {
    const char *path;        /* NULL: nobody wants to know */
    const pthread_t *player; /* NULL: frames come within calls */
    uint64_t cpu, wall;      /* at the beginning, ns */
    uint64_t paused;         /* when the player's share began */
    uint64_t played;         /* the player's share so far */
    uint64_t late;           /* ns by which the player's thread was late in all */
};

void bill_begin(struct bill *b, const char *path, const pthread_t *player);

/* Around what the player does in the program's calls. */
void bill_pause(struct bill *b);
void bill_go_on(struct bill *b);

/* Writes "CPU-NS WALL-NS FRAMES LOST LATE-NS" into the file. */
void bill_write(const struct bill *b, uint64_t frames, uint64_t lost);

#endif
