/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts and ends helper processes. See helper.h. */
#include "capture/helper/helper.h"

#include <fcntl.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/fail.h"

enum { STEP_MS = 2 };

volatile int helper_stopped;

/*
 * Starts it in its own session, so that signals of the terminal do not reach it; the capture ends
 * it.
 */
static int spawn(struct helper *helper, int end, const struct helper_plan *plan)
{
    char *no_variables[] = {NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    int error;

    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, end, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (plan->isolated)
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    error = posix_spawn(&helper->pid, "/proc/self/exe", &files, &attributes, plan->argv,
                        plan->isolated ? no_variables : environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return error;
}

bool helper_start(struct helper *helper, const struct helper_plan *plan, GError **error)
{
    int ends[2], number;

    helper->fd = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
        return fail_with(error, "cannot create a socket: %s", strerror(errno));
    number = spawn(helper, ends[1], plan);
    close(ends[1]);
    if (number == 0) {
        helper->fd = ends[0];
        return true;
    }
    close(ends[0]);
    return fail_with(error, "cannot start %s: %s", plan->what, strerror(number));
}

bool helper_has_ended(const struct helper *helper, int ms)
{
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};

    for (int waited = 0; waited < ms; waited += STEP_MS) {
        if (waitpid(helper->pid, NULL, WNOHANG) != 0)
            return true;
        nanosleep(&step, NULL);
    }
    return false;
}

static void on_end(int number)
{
    (void)number;
    helper_stopped = 1;
}

void helper_catch_signals(bool with_capture)
{
    struct sigaction end = {.sa_handler = on_end};

    sigaction(SIGTERM, &end, NULL);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    if (with_capture)
        prctl(PR_SET_PDEATHSIG, SIGTERM);
}
