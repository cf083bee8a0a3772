/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts and ends the keeper process. See keeper.h. */
#include "capture/multicast/keeper.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/multicast/groupevent.h"
#include "cli/fail.h"
#include "cli/say.h"

enum { PATIENCE_MS = 600, STEP_MS = 2 };

/*
 * Starts the keeper in its own session, so that signals of the terminal do not reach it; the
 * capture ends it.
 */
static int spawn(struct keeper *keeper, int end, char **argv)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    int error;

    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, end, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", 1 /* O_WRONLY */, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    error = posix_spawn(&keeper->pid, "/proc/self/exe", &files, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return error;
}

bool keeper_start(struct keeper *keeper, const struct keeper_plan *plan, GError **error)
{
    char port[8], pkey[8], device[64];
    char name[] = "ipoib-capture", command[] = KEEPER_COMMAND, all[] = "all", one[] = "broadcast";
    char *argv[] = {name, command, device, port, pkey, plan->broadcast_only ? one : all, NULL};
    int ends[2], number;

    snprintf(device, sizeof(device), "%s", plan->device);
    snprintf(port, sizeof(port), "%u", plan->port);
    snprintf(pkey, sizeof(pkey), "%u", plan->pkey);
    keeper->fd = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
        return fail_with(error, "cannot create a socket: %s", strerror(errno));
    number = spawn(keeper, ends[1], argv);
    close(ends[1]);
    if (number == 0) {
        keeper->fd = ends[0];
        return true;
    }
    close(ends[0]);
    return fail_with(error, "cannot start the process that keeps the groups: %s", strerror(number));
}

void keeper_again(const struct keeper *keeper)
{
    if (keeper->fd >= 0)
        send(keeper->fd, GROUPEVENT_REJOIN, sizeof(GROUPEVENT_REJOIN), MSG_NOSIGNAL);
}

void keeper_end(struct keeper *keeper)
{
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};

    if (keeper->fd < 0)
        return;
    kill(keeper->pid, SIGTERM); /* safe: an unreaped child, so the process ID is not reused */
    close(keeper->fd);
    keeper->fd = -1;
    for (int waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
        if (waitpid(keeper->pid, NULL, WNOHANG) != 0)
            return;
        nanosleep(&step, NULL);
    }
    say("the SA is slow to answer: the groups are left in the background");
}
