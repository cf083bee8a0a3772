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

#include "capture/helper/descriptors.h"
#include "cli/fail.h"

enum { STEP_MS = 2, KEPT_FD = STDERR_FILENO + 1 };

volatile int helper_stopped;

/*
 * Starts it in its own session, so that signals of the terminal do not reach it; the capture ends
 * it.
 */
static int spawn(struct helper *helper, int end, int kept, const struct helper_plan *plan)
{
    char *no_variables[] = {NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    int error;

    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, end, STDIN_FILENO);
    if (kept >= 0)
        posix_spawn_file_actions_adddup2(&files, kept, KEPT_FD);
    descriptors_close(&files, kept >= 0 ? KEPT_FD + 1 : KEPT_FD);
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
    int ends[2], kept, number;

    helper->fd = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
        return fail_with(error, "cannot create a socket: %s", strerror(errno));
    /* above the numbers that the helper's descriptors get */
    kept = plan->kept >= 0 ? fcntl(plan->kept, F_DUPFD_CLOEXEC, KEPT_FD + 1) : -1;
    number = plan->kept >= 0 && kept < 0 ? errno : spawn(helper, ends[1], kept, plan);
    if (kept >= 0)
        close(kept);
    close(ends[1]);
    if (number == 0) {
        helper->fd = ends[0];
        return true;
    }
    close(ends[0]);
    return fail_with(error, "cannot start %s: %s", plan->what, strerror(number));
}

bool helper_has_ended(const struct helper *helper, int ms, int *status)
{
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};

    for (int waited = 0; waited < ms; waited += STEP_MS) {
        if (waitpid(helper->pid, status, WNOHANG) != 0)
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

void helper_catch_signals(void)
{
    struct sigaction end = {.sa_handler = on_end};

    sigaction(SIGTERM, &end, NULL);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

void helper_ignore_signals(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        signal(numbers[i], SIG_IGN);
}
