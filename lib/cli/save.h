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
};

/*
 * Writes TEXT to the file PATH (NULL or "-": stdout). A regular file is replaced atomically by
 * renaming, so it is never incomplete; the new file has its mode, or else 0666, both less the
 * umask. Returns false and sets ERROR on failure, also if another user can have put there what
 * exists (cli/place.h).
 */
bool save(const GString *text, const char *path, GError **error);

/* Writes PARTS in the same way. LIMIT: which bits the mode of a regular file may have. */
bool save_file(const struct save_parts *parts, const char *path, const struct access_limit *limit,
               GError **error);

/*
 * Returns false and sets ERROR if save() would certainly refuse PATH: called before the work whose
 * result is saved.
 */
bool save_is_possible(const char *path, GError **error);

/*
 * Returns false and sets ERROR if PATH is not possible, or is one of the N FILES, which would be
 * overwritten, or will be if neither exists yet. WHAT describes the files in the message.
 */
bool save_is_safe(const char *path, char *const *files, int n, const char *what, GError **error);

#endif
