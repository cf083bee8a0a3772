/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens an output with a single writer: a capture, or a report that cannot be replaced. */
#ifndef IPOIB_CLI_CREATE_H
#define IPOIB_CLI_CREATE_H

#include <glib.h>

#include "cli/access.h"
#include "cli/place.h"

/*
 * Opens PATH for writing. A regular file is locked until it is closed (flock), and gets no readers
 * beyond LIMIT; its contents do not change before create_empty(). A new file has mode 0600, less
 * the umask. Returns the descriptor, or -1 with errno and *ERROR, a message to print after the
 * path.
 *
 * If it fails, nothing that exists has changed. EWOULDBLOCK: another program has locked the file.
 * EACCES: also if another user can have put there what exists (cli/place.h).
 * EINTR: a signal ended the wait for a FIFO's reader.
 */
int create_file(const char *path, const struct access_limit *limit, GError **error);

/*
 * Like create_file(), but changes nothing that exists, also no link without a target: errno is then
 * EEXIST.
 */
int create_new_file(const char *path, GError **error);

/* Opens what exists at PLACE as create_file() does. */
int create_at(const struct place *place, const struct access_limit *limit, GError **error);

/*
 * Cuts off what a regular file has after the descriptor's position: all, unless the caller of the
 * program opened it and wrote to it before (/dev/stdout), or appends to it (>>). Returns false with
 * errno.
 */
bool create_empty(int fd);

/* The message for EWOULDBLOCK. */
extern const char create_is_locked[];

#endif
