/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing a report so that it is whole, or an error is told. */
#ifndef IPOIB_CLI_SAVE_H
#define IPOIB_CLI_SAVE_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Writes the text to the file at path (NULL or "-": stdout). A regular file is replaced at once, by
 * renaming: there is never half a report. False after a message.
 */
bool save(const GString *text, const char *path);

/*
 * The same of head, what stands in the file middle (NULL: nothing), and tail: for a text that is
 * too long for memory.
 */
bool save_parts(const GString *head, FILE *middle, const GString *tail, const char *path);

/*
 * False after a message if path is one of the files, which are what ("a capture to be judged"): the
 * report would take its place.
 */
bool save_is_safe(const char *path, char *const *files, int n, const char *what);

#endif
