/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measures what a capture costs. See bill.h. */
#include "bill.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The CPU time of all threads except the device's. */
static uint64_t cpu_without_player(const struct bill *b)
{
    clockid_t clock;

    if (!b->player || pthread_getcpuclockid(*b->player, &clock) != 0)
        return read_clock(CLOCK_PROCESS_CPUTIME_ID);
    return read_clock(CLOCK_PROCESS_CPUTIME_ID) - read_clock(clock);
}

void bill_begin(struct bill *b, const char *path, const pthread_t *player)
{
    *b = (struct bill){.path = path[0] ? path : NULL, .player = player};
    if (!b->path)
        return;
    b->wall = read_clock(CLOCK_MONOTONIC);
    b->cpu = cpu_without_player(b);
}

void bill_pause(struct bill *b)
{
    if (b->path && !b->player)
        b->paused = read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void bill_go_on(struct bill *b)
{
    if (b->path && !b->player)
        b->played += read_clock(CLOCK_THREAD_CPUTIME_ID) - b->paused;
}

void bill_write(const struct bill *b, uint64_t frames, uint64_t lost)
{
    uint64_t cpu, wall;
    FILE *f;

    if (!b->path)
        return;
    cpu = cpu_without_player(b) - b->cpu - b->played;
    wall = read_clock(CLOCK_MONOTONIC) - b->wall;
    f = fopen(b->path, "w");
    if (!f ||
        fprintf(f, "%llu %llu %llu %llu %llu\n", (unsigned long long)cpu, (unsigned long long)wall,
                (unsigned long long)frames, (unsigned long long)lost,
                (unsigned long long)b->late) < 0 ||
        fclose(f) != 0)
        abort();
}
