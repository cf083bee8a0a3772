/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a report completely, or sets an error that names the file. */
#ifndef IPOIB_CLI_SAVE_H
#define IPOIB_CLI_SAVE_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Writes TEXT to the file PATH (NULL or "-": stdout). A regular file is replaced atomically by
 * renaming, so it is never incomplete. Returns false and sets ERROR on failure.
 */
bool save(const GString *text, const char *path, GError **error);

/*
 * Writes HEAD, the contents of the file MIDDLE (NULL: none) and TAIL in the same way, for a text
 * too large for memory.
 */
bool save_parts(const GString *head, FILE *middle, const GString *tail, const char *path,
                GError **error);

/*
 * Returns false and sets ERROR if PATH is one of the N FILES, which would be overwritten, or will
 * be if neither exists yet. WHAT describes the files in the message.
 */
bool save_is_safe(const char *path, char *const *files, int n, const char *what, GError **error);

#endif
