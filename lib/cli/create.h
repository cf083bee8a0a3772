/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creates a file with a single writer: a capture. */
#ifndef IPOIB_CLI_CREATE_H
#define IPOIB_CLI_CREATE_H

#include <glib.h>

/*
 * Opens PATH for writing. A regular file is locked until it is closed (flock) and truncated; a new
 * file has mode 0600, less the umask. Returns the descriptor, or -1 with errno and *ERROR, a
 * message to print after the path.
 *
 * EWOULDBLOCK: another program has locked the file; it is not changed. EACCES: also if another user
 * can have put there what exists (cli/place.h); it is not changed.
 * EINTR: a signal ended the wait for a FIFO's reader.
 */
int create_file(const char *path, GError **error);

/*
 * Like create_file(), but changes nothing that exists, also no link without a target: errno is then
 * EEXIST.
 */
int create_new_file(const char *path, GError **error);

/* The message for EWOULDBLOCK. */
extern const char create_is_locked[];

#endif
