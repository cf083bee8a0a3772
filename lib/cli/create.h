/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creating a file that one program alone writes: a capture. */
#ifndef IPOIB_CLI_CREATE_H
#define IPOIB_CLI_CREATE_H

#include <stddef.h>

/*
 * Opens PATH for writing. A regular file is locked until it is closed (flock), and empty then; a
 * new one is for its owner alone (mode 0600, less the umask). Returns the descriptor; or -1 with
 * errno, and in WHY what a message says after the path. A file that another program has locked is
 * left as it is: EWOULDBLOCK. So is what a symbolic link names that another user has put into a
 * folder for all users: EACCES. A signal ends the wait for a FIFO's reader: EINTR.
 */
int create_file(const char *path, char *why, size_t size);

/* WHY of EWOULDBLOCK. */
extern const char create_is_locked[];

#endif
