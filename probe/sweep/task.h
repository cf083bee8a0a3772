/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several runs of checks at once: each on a stack of its own, one going on at a time, until it
 * waits for something. So a check is written as if it were alone, and a sweep has many of them in
 * flight.
 */
#ifndef IPOIB_PROBE_TASK_H
#define IPOIB_PROBE_TASK_H

#include <stdbool.h>

struct task;

typedef void task_run(void *user);

/* NULL: no memory for its stack. */
struct task *task_new(void);
/* To be freed, or begun anew, when it has ended. */
void task_free(struct task *t);

/* Gives it something to do; it begins with the first task_resume. */
void task_begin(struct task *t, task_run *run, void *user);
/* Goes on until it waits or ends. False: it has ended. */
bool task_resume(struct task *t);
/* Of the running task: waits until it is resumed. */
void task_wait(struct task *t);

#endif
