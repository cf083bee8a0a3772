/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several captures on one port are a single group member to the SA, so only the last of them may
 * leave a group. Each capture holds a shared lock on one byte of a file; the byte represents the
 * group. If the file cannot be created, each capture joins and leaves on its own.
 *
 * The file belongs to one user: captures of different users do not share locks.
 */
#ifndef CAPTURE_GROUPLOCK_H
#define CAPTURE_GROUPLOCK_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Opens the lock file. Returns its descriptor, or -1 and sets ERROR. The other functions do nothing
 * with -1.
 */
int grouplock_open(GError **error);

/* Takes the shared lock. Call before joining the group; hold it until the group is left. */
void grouplock_take(int fd, const char *device, unsigned port, const uint8_t *mgid);

/*
 * Releases the shared lock and returns whether no other capture holds one. If true, the caller
 * leaves the group and then calls grouplock_end.
 */
bool grouplock_is_last(int fd, const char *device, unsigned port, const uint8_t *mgid);
/* Releases the lock, whether shared or taken by grouplock_is_last. */
void grouplock_end(int fd, const char *device, unsigned port, const uint8_t *mgid);

#endif
