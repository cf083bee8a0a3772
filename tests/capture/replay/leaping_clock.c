/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded, it makes the steady clock of a program leap by LEAP seconds as soon as the file exists
 * that IPOIB_LEAP names: a test of a limit of 20 s takes two.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LEAP = 18 };

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *t);

int clock_gettime(clockid_t clock, struct timespec *t)
{
    static atomic_bool has_leapt;
    const char *file = getenv("IPOIB_LEAP");

    if (syscall(SYS_clock_gettime, clock, t) != 0)
        return -1;
    if (!has_leapt && file && access(file, F_OK) == 0)
        has_leapt = true;
    if (clock == CLOCK_MONOTONIC && has_leapt)
        t->tv_sec += LEAP;
    return 0;
}
