/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Group keeper: a separate process of a capture in multicast mode. It joins the multicast groups so
 * that the switches forward their traffic to the port. It polls the SA's table of groups, joins the
 * wanted groups, reports them to the capture, and leaves them when the capture ends, even if the
 * capture is killed.
 *
 * It joins as NonMember (JoinState bit 1, IBA 15.2.5.17). A NonMember receives the group's traffic
 * but does not keep the group alive. The host's own interfaces never join as NonMember, so their
 * memberships are not affected.
 *
 * Why not the probe's guard (probe/link/guard.h), which also leaves groups after a kill: the keeper
 * is the member itself, for the whole capture, and needs the SA all the time. It leaves a NonMember
 * bit, which only other captures on the port may still need (grouplock.h); the guard leaves the
 * bits that the probe added, which an interface of the host may need (probe/link/leave.h). And the
 * keeper is a program started again, because a fork would share the capture's registered memory and
 * devices; the guard is forked before the probe has any. Their requests to the SA are the same code
 * (hca/client.h, hca/mcgroup.h).
 */
#ifndef CAPTURE_KEEPER_H
#define CAPTURE_KEEPER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/helper/helper.h"

/* --- the keeper process: a subcommand started by the capture; its standard input is the socket */

#define KEEPER_COMMAND "keep-groups"
/*
 * Runs the keeper. argv: the command, device, port, P_Key (decimal), "all" or "broadcast". Returns
 * the exit status: 0, 1 or 2.
 */
int keeper_main(int argc, char **argv);

/* --- functions for the capture */

struct keeper_plan {
    const char *device;
    unsigned port;
    uint16_t pkey;       /* P_Key of the partition whose groups are joined */
    bool broadcast_only; /* join only the broadcast group */
};

struct keeper {
    struct helper process; /* its socket receives struct groupevent */
};

/* Starts the keeper process. Returns false and sets ERROR if that fails. */
bool keeper_start(struct keeper *keeper, const struct keeper_plan *plan, GError **error);

/* Asks the keeper to join all groups again. */
void keeper_again(const struct keeper *keeper);

/* Tells the keeper to leave the groups and end; waits at most 0.6 s for it. */
void keeper_end(struct keeper *keeper);

#endif
