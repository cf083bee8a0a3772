/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors of functions that do not print: they set a GError, whose message names what failed, on
 * what, why, and what to do. The main file prints it by say_error().
 */
#ifndef IPOIB_CLI_FAIL_H
#define IPOIB_CLI_FAIL_H

#include <glib.h>
#include <stdbool.h>

/* Sets *ERROR, unless ERROR is NULL. Returns false. */
bool fail_with(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
