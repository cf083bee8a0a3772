/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Group keeper process. See keeper.h. */
#include "capture/multicast/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "capture/multicast/grouplock.h"
#include "capture/multicast/groupevent.h"
#include "capture/multicast/membership.h"
#include "cli/fail.h"
#include "cli/say.h"
#include "cli/privileges.h"
#include "model/hash.h"
#include "wire/mgid.h"

enum {
    POLL_EVERY_MS = 2000,
    POLL_SHARE = 100,   /* wait 100 times as long as the SA was busy: 1 % load */
    REJOIN_EVERY = 150, /* all joins are repeated after this many polls */
};

/*
 * Waits MS for the next poll; a message from the capture ends the wait and makes all groups join
 * again. Returns false when the capture has ended.
 */
static bool wait_for_next(struct keep *k, int ms)
{
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
    char word[sizeof(GROUPEVENT_REJOIN)];

    if (helper_stopped || poll(&fd, 1, ms) < 0)
        return !helper_stopped;
    if (fd.revents & POLLIN) {
        if (recv(STDIN_FILENO, word, sizeof(word), 0) <= 0)
            return false;
        membership_forget(k);
    }
    return !(fd.revents & POLLHUP);
}

static void keep_on(struct keep *k)
{
    for (unsigned polls = 1;; polls++) {
        k->busy = 0;
        membership_refresh(k);
        if (helper_stopped)
            return;
        membership_report(k, GROUPEVENT_POLLED, NULL, 0);
        if (!wait_for_next(k, (int)MAX(POLL_EVERY_MS, k->busy / 1000 * POLL_SHARE)))
            return;
        if (polls % REJOIN_EVERY == 0)
            membership_forget(k);
    }
}

/*
 * Leaves all groups. Redirects standard input and standard error to /dev/null first, so that the
 * user's files are not held open while the SA does not answer.
 */
static void leave_all(struct keep *k)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDERR_FILENO);
    }
    membership_leave_all(k);
}

int keeper_main(int argc, char **argv)
{
    struct keep k = {.broadcast_only = argc == 5 && strcmp(argv[4], "broadcast") == 0,
                     .stop = &helper_stopped};
    GError *why = NULL;
    int error;

    if (argc != 5)
        return 2;
    k.device = argv[1];
    k.port = (unsigned)strtoul(argv[2], NULL, 10);
    k.pkey = (uint16_t)strtoul(argv[3], NULL, 10);
    helper_catch_signals();
    error = umad_sa_open(&k.sa, k.device, k.port);
    if (error != 0) {
        membership_report(&k, GROUPEVENT_FAILED, NULL, error);
        return 1;
    }
    k.groups = g_hash_table_new_full(hash_gid, mgid_equal, NULL, g_free);
    k.lock = grouplock_open(&why); /* without the lock, the keeper works nevertheless */
    say_error(NULL, &why);
    if (!privileges_drop(0, 0, &why)) {
        say_error(NULL, &why);
        g_hash_table_unref(k.groups);
        return 1;
    }
    keep_on(&k);
    leave_all(&k);
    g_hash_table_unref(k.groups);
    umad_sa_close(k.sa);
    return 0;
}
