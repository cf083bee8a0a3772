/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a report completely, or sets an error that names the file. */
#ifndef IPOIB_CLI_SAVE_H
#define IPOIB_CLI_SAVE_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/access.h"

/* Parts of a text that is too large for memory; each may be NULL. */
struct save_parts {
    const GString *head;
    FILE *middle;
    const GString *tail;
    bool replaces; /* an existing regular file is never overwritten: that fails instead */
};

/*
 * Writes TEXT to the file PATH (NULL or "-": stdout). A regular file is replaced atomically by
 * renaming, so it is never incomplete; the new file has its mode and, where the system allows it,
 * its owner, group and access control list, or else 0666 less the umask. If the folder takes no new
 * name, or the file is a mount point, the file is overwritten. Returns false and sets ERROR on
 * failure, also if another user can have put there what exists (cli/place.h).
 */
bool save(const GString *text, const char *path, GError **error);

/* Writes PARTS in the same way. LIMIT: who may read a regular file. */
bool save_file(const struct save_parts *parts, const char *path, const struct access_limit *limit,
               GError **error);

/*
 * Returns false and sets ERROR if save() would certainly refuse PATH: called before the work whose
 * result is saved.
 */
bool save_is_possible(const char *path, GError **error);

/*
 * Returns false and sets ERROR if PATH is not possible, or is one of the N FILES, which would be
 * overwritten. WHAT describes the files in the message.
 */
bool save_is_safe(const char *path, char *const *files, int n, const char *what, GError **error);

/*
 * Returns false and sets ERROR if the outputs PATH and OTHER (NULL or "-": stdout) are one file,
 * or would be; WHAT describes the other one in the message.
 */
bool save_are_distinct(const char *path, const char *other, const char *what, GError **error);

#endif
