/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts timestamps of a device's own clock to the time of day. */
#ifndef CAPTURE_HCACLOCK_H
#define CAPTURE_HCACLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

struct hcaclock {
    struct ibv_context *context;
    bool wallclock;       /* completions carry the time of day in ns; the fields below are unused */
    uint64_t khz, mask;   /* otherwise: frequency and mask of the counter in completions */
    uint64_t ticks, time; /* the same instant on both clocks; time in ns since 1970 */
    uint64_t checked;     /* when both clocks were last read, ns since 1970 */
};

/* CLOCK_REALTIME in ns since 1970. It can jump when the clock is set. */
uint64_t time_of_day(void);

/* CLOCK_MONOTONIC in ns. */
uint64_t steady_time(void);

/* Reads both clocks. Returns false if the device's clock cannot be read. */
bool hcaclock_start(struct hcaclock *clock, struct ibv_context *context);

/* Reads both clocks again if the last reading is at least one second old, because they drift. */
void hcaclock_follow(struct hcaclock *clock, uint64_t now);

/*
 * Converts the counter value TICKS to ns since 1970. TICKS may be at most half of the counter's
 * range before or after the last reading.
 */
uint64_t hcaclock_time(const struct hcaclock *clock, uint64_t ticks);

#endif
