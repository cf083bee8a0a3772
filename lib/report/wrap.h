/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text for a terminal of 80 columns. */
#ifndef IPOIB_REPORT_WRAP_H
#define IPOIB_REPORT_WRAP_H

#include <glib.h>

enum { WRAP_WIDTH = 79 };

/*
 * Appends the words, wrapped, and a newline. Lines are indented to column INDENT; the first word
 * starts in column AT of the current line. Colours (ECMA-48 SGR) take no column.
 */
void wrap_words(GString *out, const char *text, size_t at, size_t indent);
/*
 * The same for commands, "a; b; c  # why": a line ends within a command only if the command is
 * longer than a line, so that what is copied from the terminal is whole.
 */
void wrap_commands(GString *out, const char *text, size_t at, size_t indent);

/* The text, or its beginning and " ..." if it has more than MAX bytes; free it with g_free(). */
char *wrap_cut(const char *text, size_t max);

/* Number of lines, each of which ends with a newline. */
unsigned wrap_lines(const char *text);

#endif
