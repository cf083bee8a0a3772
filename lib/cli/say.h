/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages on standard error. fail.h says which functions print. */
#ifndef IPOIB_CLI_SAY_H
#define IPOIB_CLI_SAY_H

#include <glib.h>
#include <stdbool.h>

/* Sets the program's name, the start of each message. */
void say_as(const char *name);

/*
 * Writes the program's name, the message and a line end to standard error. Makes the message safe
 * for terminals (plain.h).
 */
void say(const char *format, ...) G_GNUC_PRINTF(1, 2);

/*
 * Writes the message of ERROR in the same way, after NAME: the file or device that it is about
 * (NULL: the message names it). Frees and clears *ERROR; if that is NULL, writes nothing. Returns
 * false.
 */
bool say_error(const char *name, GError **error);

#endif
