/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cleanup after a probe that was killed. See guard.h. */
#include "probe/link/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hca/client.h"
#include "probe/link/leave.h"
#include "probe/link/transport.h"
#include "probe/run/run.h"

enum { QUERY_MS = 1500 };

static bool is_same_port(const struct guard_message *a, const struct guard_message *b)
{
    return a->port == b->port && strcmp(a->device, b->device) == 0;
}

/* Index of the notification about the same membership; words->len if there is none. */
static guint find_guard_message(const GArray *words, const struct guard_message *w)
{
    guint i = 0;
    while (i < words->len) {
        const struct joined *j = &g_array_index(words, struct guard_message, i).joined;
        if (j->added == w->joined.added && memcmp(j->mgid, w->joined.mgid, sizeof j->mgid) == 0 &&
            is_same_port(&g_array_index(words, struct guard_message, i), w))
            break;
        i++;
    }
    return i;
}

static void apply_message(GArray *words, const struct guard_message *w)
{
    guint i = find_guard_message(words, w);
    if (w->joined_now && i == words->len)
        g_array_append_vals(words, w, 1);
    else if (!w->joined_now && i < words->len)
        g_array_remove_index(words, i);
}

static enum sa_result query_sa(void *user, const struct sa_query *q, struct sa_response *a)
{
    static const volatile int never;
    char error[256];
    *a = (struct sa_response){.records = g_byte_array_new()};
    enum sa_outcome outcome = umad_sa_query(user, q, QUERY_MS, &never, a, error, sizeof error);
    if (outcome == SA_OK && (a->status & MAD_STATUS_BUSY))
        return SA_BUSY;
    return outcome == SA_OK        ? a->status ? SA_REJECTED : SA_SUCCESS
           : outcome == SA_NOTHING ? SA_NO_RESPONSE
                                   : SA_ERROR;
}

/* The probe may have used several ports, one after another. */
static void undo_one(const struct guard_message *w)
{
    struct umad_sa *sa;
    if (umad_sa_open(&sa, w->device, w->port) != 0)
        return;
    struct port_facts port = {.port = w->port};
    struct leaver l = {.port = &port, .sm_key = w->sm_key, .query = query_sa, .user = sa};
    struct left left;
    g_strlcpy(port.device, w->device, sizeof port.device);
    memcpy(port.gid, w->gid, sizeof port.gid);
    leave_group(&l, &w->joined, &left);
    g_free(left.interface);
    umad_sa_close(sa);
}

static void undo(const GArray *words)
{
    for (guint i = words->len; i-- > 0;)
        undo_one(&g_array_index(words, struct guard_message, i));
}

/* Collects notifications until the probe's end of the socket is closed, then cleans up. */
static void run_guard(int fd)
{
    GArray *words = g_array_new(FALSE, FALSE, sizeof(struct guard_message));
    struct guard_message w;
    ssize_t n;
    while ((n = recv(fd, &w, sizeof w, 0)) > 0 || (n < 0 && errno == EINTR))
        if (n == (ssize_t)sizeof w)
            apply_message(words, &w);
    undo(words);
    g_array_unref(words);
}

/*
 * Starts a session of its own so that the terminal's signals do not reach it, and redirects
 * the standard streams to /dev/null so that it keeps no pipe open.
 */
static void start_guard(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    setsid();
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
}

bool guard_start(struct guard *g)
{
    int ends[2];
    g->fd = g->pid = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    g->pid = fork();
    if (g->pid == 0) {
        close(ends[0]);
        start_guard();
        run_guard(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    if (g->pid < 0)
        close(ends[0]);
    else
        g->fd = ends[0];
    return g->pid > 0;
}

void guard_end(struct guard *g)
{
    if (g->fd < 0)
        return;
    close(g->fd);
    while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    g->fd = -1;
}
