/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder in which mstflint's library creates its lock files. The library follows links there,
 * as root, so another user who can write to the folder could have it create or open any file.
 */
#ifndef CAPTURE_FIRMWARE_LOCKFOLDER_H
#define CAPTURE_FIRMWARE_LOCKFOLDER_H

#include <glib.h>
#include <stdbool.h>

/*
 * Creates the folder if it does not exist. Returns false and sets ERROR if others than root can
 * change it, or if a lock file of the adapter PCI is no plain file of root.
 */
bool lockfolder_check(const char *pci, GError **error);

#endif
