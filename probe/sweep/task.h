/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cooperative tasks: each runs on its own stack until it waits; one runs at a time. A check is
 * therefore written as sequential code, and a sweep runs many of them concurrently.
 */
#ifndef IPOIB_PROBE_TASK_H
#define IPOIB_PROBE_TASK_H

#include <stdbool.h>

struct task;

typedef void task_run(void *user);

/* NULL: no memory for the stack. */
struct task *task_new(void);
/* Free or reuse a task only after it has ended. */
void task_free(struct task *t);

/* Assigns work; it starts with the first task_resume(). */
void task_begin(struct task *t, task_run *run, void *user);
/* Runs the task until it waits or ends. Returns false if it has ended. */
bool task_resume(struct task *t);
/* Called by the running task: waits until it is resumed. */
void task_wait(struct task *t);

#endif
