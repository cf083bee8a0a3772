/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose a file is. In a user namespace, such as a rootless container, all users that it does not
 * map have one number, the overflow uid (65534): files of different people seem to have one owner.
 * There, this number belongs to nobody: it is the same as no user's, not even as itself. If the
 * program itself runs as this number there, no file is its own.
 */
#ifndef IPOIB_CLI_USER_H
#define IPOIB_CLI_USER_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether a file of USER can only have been made by this user or root. */
bool user_is_trusted(uid_t user);

/* Whether both are certainly one user. */
bool user_is_same(uid_t a, uid_t b);

/* What a message adds to the number USER: empty, or that it stands for any user. */
const char *user_note(uid_t user);

#endif
