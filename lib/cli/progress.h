/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows the progress of a program. Errors of the output are ignored: it is no result. */
#ifndef IPOIB_CLI_PROGRESS_H
#define IPOIB_CLI_PROGRESS_H

#include <glib.h>
#include <stdbool.h>

/* Whether standard error is a terminal, which progress_line() needs. */
bool progress_has_terminal(void);
/* Replaces the line on the terminal. */
void progress_line(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* Erases the line, if standard error is a terminal. */
void progress_erase(void);

/* Appends to standard output, for a program whose progress other programs read (ibdump's). */
void progress_append(const char *format, ...) G_GNUC_PRINTF(1, 2);

#endif
