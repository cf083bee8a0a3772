/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dropping capabilities, and raising those in reserve. Each test runs in its own process. */
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/privileges.h"
#include "tests/unit/unit.h"

#define RAW  (1u << CAP_NET_RAW)
#define LOCK (1u << CAP_IPC_LOCK)

struct capabilities {
    struct __user_cap_data_struct of[2]; /* each of 32: capget(2) */
};

static struct capabilities now(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct capabilities all;

    if (syscall(SYS_capget, &header, all.of) != 0)
        _exit(2);
    return all;
}

static bool is(unsigned effective, unsigned permitted)
{
    struct capabilities have = now();

    return have.of[0].effective == effective && have.of[0].permitted == permitted &&
           have.of[0].inheritable == 0 && !have.of[1].effective && !have.of[1].permitted;
}

static bool nothing_stays(void)
{
    if (!privileges_drop(0, 0, NULL) || !is(0, 0) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        return false;
    privileges_raise(PRIVILEGE_RAW | PRIVILEGE_LOCK);
    return is(0, 0);
}

static bool active_stays(void)
{
    if (!privileges_drop(PRIVILEGE_RAW, 0, NULL) || !is(RAW, RAW))
        return false;
    privileges_raise(PRIVILEGE_LOCK);
    return is(RAW, RAW);
}

static bool reserve_is_raised_and_lowered(void)
{
    if (!privileges_drop(0, PRIVILEGE_RAW | PRIVILEGE_LOCK, NULL) || !is(0, RAW | LOCK))
        return false;
    privileges_raise(PRIVILEGE_RAW);
    if (!is(RAW, RAW | LOCK))
        return false;
    privileges_lower();
    return is(0, RAW | LOCK);
}

static bool suspended_ones_come_back(void)
{
    struct capabilities before = now(), without = before, after;

    if (!before.of[0].effective || !privileges_suspend())
        return false;
    without.of[0].effective = without.of[1].effective = 0;
    after = now();
    if (memcmp(&after, &without, sizeof(after)) != 0 || !privileges_resume())
        return false;
    after = now();
    return memcmp(&after, &before, sizeof(after)) == 0;
}

/* Dropping the capabilities of a program that has none is not an error. */
static bool none_is_fine(void)
{
    return privileges_drop(0, 0, NULL) && privileges_drop(PRIVILEGE_RAW, PRIVILEGE_LOCK, NULL) &&
           is(0, 0);
}

static void in_a_process(void **state)
{
    bool (*test)(void) = *(bool (**)(void)) * state;
    int status;
    pid_t pid;

    if (geteuid() != 0)
        skip();
    pid = fork();
    if (pid == 0)
        _exit(test() ? 0 : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    static bool (*tests[])(void) = {nothing_stays, active_stays, reserve_is_raised_and_lowered,
                                    suspended_ones_come_back, none_is_fine};
    static const char *const names[] = {"nothing stays", "active stays", "reserve", "suspended",
                                        "none"};
    enum { TESTS = sizeof(tests) / sizeof(tests[0]) };
    struct CMUnitTest all[TESTS] = {{0}};

    for (size_t i = 0; i < TESTS; i++)
        all[i] = (struct CMUnitTest){names[i], in_a_process, NULL, NULL, &tests[i]};
    return cmocka_run_group_tests(all, NULL, NULL);
}
