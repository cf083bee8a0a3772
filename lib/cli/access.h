/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may access an output that has the contents of inputs: only users who may access them all. */
#ifndef IPOIB_CLI_ACCESS_H
#define IPOIB_CLI_ACCESS_H

#include <stdbool.h>
#include <sys/stat.h>

struct access_limit {
    mode_t mode;    /* the bits that all inputs have */
    bool has_group; /* GROUP is valid: there was an input */
    gid_t group;    /* of the first input */
};

/* No limit: before the first input. */
extern const struct access_limit access_unlimited;

/*
 * Narrows LIMIT to what the input ST allows. A pipe or the like has no mode of its own, and counts
 * as a file of this user only (0600).
 */
void access_narrow(struct access_limit *limit, const struct stat *st);

/*
 * MODE, of a file of this group, without the bits that LIMIT does not allow. If the inputs have
 * another group, the group's members count as any other users.
 */
mode_t access_allowed(const struct access_limit *limit, mode_t mode, gid_t group);

#endif
