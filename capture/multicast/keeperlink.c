/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts and ends the keeper process. See keeper.h. */
#include "capture/multicast/keeper.h"

#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "capture/multicast/groupevent.h"
#include "cli/say.h"

enum { PATIENCE_MS = 600 };

bool keeper_start(struct keeper *keeper, const struct keeper_plan *plan, GError **error)
{
    char port[8], pkey[8], device[64];
    char name[] = "ipoib-capture", command[] = KEEPER_COMMAND, all[] = "all", one[] = "broadcast";
    char *argv[] = {name, command, device, port, pkey, plan->broadcast_only ? one : all, NULL};
    const struct helper_plan helper = {
        .what = "the process that keeps the groups", .argv = argv, .kept = -1};

    snprintf(device, sizeof(device), "%s", plan->device);
    snprintf(port, sizeof(port), "%u", plan->port);
    snprintf(pkey, sizeof(pkey), "%u", plan->pkey);
    return helper_start(&keeper->process, &helper, error);
}

void keeper_again(const struct keeper *keeper)
{
    if (keeper->process.fd >= 0)
        send(keeper->process.fd, GROUPEVENT_REJOIN, sizeof(GROUPEVENT_REJOIN), MSG_NOSIGNAL);
}

void keeper_end(struct keeper *keeper)
{
    if (keeper->process.fd < 0)
        return;
    kill(keeper->process.pid, SIGTERM); /* safe: an unreaped child, so the ID is not reused */
    close(keeper->process.fd);
    keeper->process.fd = -1;
    if (!helper_has_ended(&keeper->process, PATIENCE_MS, NULL))
        say("the SA is slow to answer: the groups are left in the background");
}
