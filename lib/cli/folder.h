/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private folders of a user in a parent folder that all users can write to. */
#ifndef IPOIB_CLI_FOLDER_H
#define IPOIB_CLI_FOLDER_H

#include <glib.h>

/*
 * Opens the folder PATH; creates it if it does not exist. It must belong to this user, and no other
 * user may be able to write to it, because its contents could then be forged. Returns the
 * descriptor, or -1 and *ERROR, a message to print after the path.
 */
int folder_open_private(const char *path, GError **error);

#endif
