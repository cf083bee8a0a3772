/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors of functions that do not print: they set a GError, whose message names what failed, on
 * what, why, and what to do. The main file prints it by say_error().
 *
 * A function that cannot do what it was called for returns an error. It may say() something only
 * about an event of a run that goes on: a link that went down, an SA that does not answer, an
 * option without effect, a choice that it made. script/check-includes lists the files that do,
 * apart from those in a program's own folder.
 */
#ifndef IPOIB_CLI_FAIL_H
#define IPOIB_CLI_FAIL_H

#include <glib.h>
#include <stdbool.h>

/* Sets *ERROR, unless ERROR is NULL. Returns false. */
bool fail_with(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
