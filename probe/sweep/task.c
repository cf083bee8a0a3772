/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks implemented with ucontext(3), each with a guard page at the end of its stack. See task.h.
 */
#include "probe/sweep/task.h"

#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "probe/run/target.h"

/* The deepest check needs about 20 KB, more with sanitizers. Only the used pages take memory. */
enum { STACK_SIZE = 512 << 10 };

struct task {
    ucontext_t self, caller;
    uint8_t *stack;
    size_t guard;
    task_run *run;
    void *user;
    bool goes_on;
};

struct task *task_new(void)
{
    struct task *t = g_new0(struct task, 1);
    t->guard = (size_t)sysconf(_SC_PAGESIZE);
    t->stack = mmap(NULL, STACK_SIZE + t->guard, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (t->stack != MAP_FAILED && mprotect(t->stack, t->guard, PROT_NONE) == 0)
        return t;
    if (t->stack != MAP_FAILED)
        munmap(t->stack, STACK_SIZE + t->guard);
    g_free(t);
    return NULL;
}

void task_free(struct task *t)
{
    if (!t)
        return;
    munmap(t->stack, STACK_SIZE + t->guard);
    g_free(t);
}

/* makecontext() passes only int arguments: the pointer is split in two. */
static void enter_task(unsigned high, unsigned low)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    struct task *t = (struct task *)((uintptr_t)high << 16 << 16 | low);
    t->run(t->user);
    t->goes_on = false;
}

void task_begin(struct task *t, task_run *run, void *user)
{
    uintptr_t self = (uintptr_t)t;
    t->run = run;
    t->user = user;
    t->goes_on = true;
    getcontext(&t->self);
    t->self.uc_stack.ss_sp = t->stack + t->guard;
    t->self.uc_stack.ss_size = STACK_SIZE;
    t->self.uc_link = &t->caller;
    makecontext(&t->self, (void (*)(void))enter_task, 2, (unsigned)(self >> 16 >> 16),
                (unsigned)self);
}

bool task_resume(struct task *t)
{
    swapcontext(&t->caller, &t->self);
    return t->goes_on;
}

void task_wait(struct task *t)
{
    swapcontext(&t->self, &t->caller);
}
