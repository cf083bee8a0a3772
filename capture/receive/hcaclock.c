/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Device clock. See hcaclock.h. */
#include "capture/receive/hcaclock.h"

#include <string.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

uint64_t time_of_day(void)
{
    return read_clock(CLOCK_REALTIME);
}

uint64_t steady_time(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

/* Reads the counter. The device returns it in a timespec, but in units of the counter. */
static bool read_counter(struct ibv_context *context, uint64_t *ticks)
{
    struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};

    if (ibv_query_rt_values_ex(context, &values) != 0 ||
        !(values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK))
        return false;
    *ticks = (uint64_t)values.raw_clock.tv_sec * SECOND + (uint64_t)values.raw_clock.tv_nsec;
    return true;
}

static bool read_both(struct hcaclock *clock)
{
    uint64_t before = time_of_day();

    if (!read_counter(clock->context, &clock->ticks))
        return false;
    clock->checked = time_of_day();
    clock->time = before + (clock->checked - before) / 2;
    return true;
}

bool hcaclock_start(struct hcaclock *clock, struct ibv_context *context)
{
    struct ibv_device_attr_ex attr;

    memset(clock, 0, sizeof(*clock));
    memset(&attr, 0, sizeof(attr));
    if (ibv_query_device_ex(context, NULL, &attr) != 0 || attr.hca_core_clock == 0 ||
        attr.completion_timestamp_mask == 0)
        return false;
    clock->context = context;
    clock->khz = attr.hca_core_clock;
    clock->mask = attr.completion_timestamp_mask;
    return read_both(clock);
}

void hcaclock_follow(struct hcaclock *clock, uint64_t now)
{
    if (!clock->wallclock && clock->khz && (now >= clock->checked + SECOND || now < clock->checked))
        read_both(clock);
}

uint64_t hcaclock_time(const struct hcaclock *clock, uint64_t ticks)
{
    uint64_t ahead = (ticks - clock->ticks) & clock->mask,
             behind = (clock->ticks - ticks) & clock->mask;

    if (ahead <= behind)
        return clock->time + ahead / clock->khz * 1000000 +
               ahead % clock->khz * 1000000 / clock->khz;
    return clock->time - behind / clock->khz * 1000000 - behind % clock->khz * 1000000 / clock->khz;
}
