/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper of the groups: a process beside a capture in multicast mode, which has the port's
 * switches send it the groups' traffic. It looks into the subnet administrator's table of groups
 * now and then, joins those that are wanted, tells of them, and leaves them once the capture has
 * ended, in whatever way: a killed capture leaves nothing behind.
 *
 * It joins as NonMember (IBA 15.2.5.17: JoinState bit 1), which gets a group's traffic, but does
 * not keep it alive, and which the host's own interfaces never are: so nothing that they hold is
 * joined or left.
 */
#ifndef CAPTURE_KEEPER_H
#define CAPTURE_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

/* --- the keeper's side: a subcommand that the capture starts, with its socket as standard input */

#define KEEPER_COMMAND "keep-groups"
int keeper_main(int argc, char **argv);

/* --- the capture's side */

struct keeper_plan {
    const char *device;
    unsigned port;
    uint16_t pkey;       /* whose groups */
    bool broadcast_only; /* not the other groups */
};

struct keeper {
    int fd; /* struct groupnews come here; -1: there is no keeper */
    int pid;
};

/* Returns false after a message. */
bool keeper_start(struct keeper *keeper, const struct keeper_plan *plan);

/* All groups are to be joined again. */
void keeper_again(const struct keeper *keeper);

/* Has the groups left, and waits for that a moment. */
void keeper_end(struct keeper *keeper);

#endif
