/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A device's own clock, put in relation to the time of day. */
#ifndef CAPTURE_HCACLOCK_H
#define CAPTURE_HCACLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

struct hcaclock {
    struct ibv_context *context;
    bool wallclock;       /* completions carry the time of day */
    uint64_t khz, mask;   /* of the counter that completions carry otherwise */
    uint64_t ticks, time; /* one moment in both */
    uint64_t checked;     /* when it was looked at, by the time of day */
};

/* The time of day, nanoseconds since 1970: it may be set. */
uint64_t time_of_day(void);

/* CLOCK_MONOTONIC in ns, which only goes on. */
uint64_t steady_time(void);

/* Whether the device's clock can be read. */
bool hcaclock_start(struct hcaclock *clock, struct ibv_context *context);

/* Reads both clocks anew if that was a second ago: they drift. */
void hcaclock_follow(struct hcaclock *clock, uint64_t now);

/* The time of day at which the counter was at TICKS, at most half of its range ago or ahead. */
uint64_t hcaclock_time(const struct hcaclock *clock, uint64_t ticks);

#endif
