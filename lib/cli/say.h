/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program tells on stderr beside its report. */
#ifndef IPOIB_CLI_SAY_H
#define IPOIB_CLI_SAY_H

#include <glib.h>

/* The program's name: begins each message. */
void say_as(const char *name);

/*
 * Writes the name, the message and a line end to stderr. Texts of files and users are made plain.
 */
void say(const char *format, ...) G_GNUC_PRINTF(1, 2);

#endif
