/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibdump as a child. See ibdump.h. */
#include "capture/stream/ibdump.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/helper/descriptors.h"
#include "capture/helper/trusted.h"
#include "cli/fail.h"

enum { STEP_MS = 5 };

static bool find_program(const char *program, char real[PATH_MAX], GError **error)
{
    static const char *const places[] = {"/usr/bin/ibdump", "/usr/sbin/ibdump"};

    if (getuid() != 0 || geteuid() != 0)
        return fail_with(error, "ibdump needs root: run ipoib-capture as root (sudo)");
    if (program)
        return trusted_file(program, real, error);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (access(places[i], X_OK) == 0)
            return trusted_file(places[i], real, error);
    return fail_with(
        error,
        "ibdump is not installed: build it from mstflint's source (folder ibdump), or name it by "
        "--ibdump");
}

/* It has no environment of the user, and a session of its own: the capture ends it. */
static int spawn(struct ibdump *ibdump, int output, const char *program, char **argv)
{
    char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    char *environment[] = {path, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    int error;

    sigemptyset(&none);
    sigfillset(&defaults);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    descriptors_close(&files, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    error = posix_spawn(&ibdump->pid, program, &files, &attributes, argv, environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return error;
}

static void put_arguments(const struct ibdump_plan *plan, GPtrArray *argv)
{
    g_ptr_array_add(argv, g_strdup("ibdump"));
    g_ptr_array_add(argv, g_strdup_printf("--ib-dev=%s", plan->device));
    g_ptr_array_add(argv, g_strdup_printf("--ib-port=%u", plan->port));
    g_ptr_array_add(argv, g_strdup("--write=-"));
    if (plan->buffers_requested)
        g_ptr_array_add(argv, g_strdup_printf("--max-burst=%u", plan->log2_buffers));
    if (plan->jumbo)
        g_ptr_array_add(argv, g_strdup("--jumbo-mtu"));
    if (plan->direction != DIRECTION_BOTH)
        g_ptr_array_add(
            argv, g_strdup_printf("--direction=%s", plan->direction == DIRECTION_TX ? "tx" : "rx"));
    g_ptr_array_add(argv, NULL);
}

bool ibdump_start(struct ibdump *ibdump, const struct ibdump_plan *plan, GError **error)
{
    char program[PATH_MAX];
    GPtrArray *argv;
    int ends[2], number;

    *ibdump = (struct ibdump){.fd = -1};
    if (!find_program(plan->program, program, error))
        return false;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail_with(error, "cannot create a pipe: %s", strerror(errno));
    argv = g_ptr_array_new_with_free_func(g_free);
    put_arguments(plan, argv);
    number = spawn(ibdump, ends[1], program, (char **)argv->pdata);
    g_ptr_array_unref(argv);
    close(ends[1]);
    if (number == 0) {
        ibdump->fd = ends[0];
        return true;
    }
    close(ends[0]);
    ibdump->pid = 0;
    return fail_with(error, "%s cannot be started: %s", program, strerror(number));
}

void ibdump_stop(const struct ibdump *ibdump)
{
    if (ibdump->pid > 0)
        kill(ibdump->pid, SIGINT); /* safe: an unreaped child, so the ID is not reused */
}

static bool has_ended(const struct ibdump *ibdump, int ms, int *status)
{
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};

    for (int waited = 0; waited < ms; waited += STEP_MS) {
        if (waitpid(ibdump->pid, status, WNOHANG) != 0)
            return true;
        nanosleep(&step, NULL);
    }
    return false;
}

bool ibdump_end(struct ibdump *ibdump, int ms, GError **error)
{
    int status = 0, pid = ibdump->pid;
    bool ended;

    if (pid <= 0)
        return true;
    ended = has_ended(ibdump, ms, &status);
    if (!ended) {
        kill(pid, SIGTERM);
        ended = has_ended(ibdump, ms, &status);
    }
    ibdump->pid = 0;
    if (!ended)
        return fail_with(error,
                         "ibdump (process %d) does not end: end it by hand, or its sniffer stays "
                         "attached",
                         pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    return fail_with(error, "ibdump has failed (%s %d): its messages say why",
                     WIFSIGNALED(status) ? "signal" : "exit status",
                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}
