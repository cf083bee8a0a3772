/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folders of one user in a place where all may create some. */
#ifndef IPOIB_CLI_FOLDER_H
#define IPOIB_CLI_FOLDER_H

#include <stddef.h>

/*
 * Opens the folder PATH, which is created if it is not there. It is this user's own, and nobody
 * else may write to it: else another user could have put anything there. Returns the descriptor,
 * or -1 and in WHY what a message says after the path.
 */
int folder_open_private(const char *path, char *why, size_t size);

#endif
