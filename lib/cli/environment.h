/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment of a program that has more rights than its user: by file capabilities or as
 * set-user-ID. Libraries obey it (libibverbs loads what RDMAV_DRIVERS names), and with that every
 * user would have the program's rights.
 */
#ifndef IPOIB_CLI_ENVIRONMENT_H
#define IPOIB_CLI_ENVIRONMENT_H

/* First of all in main: clears the environment of such a program (AT_SECURE, getauxval(3)). */
void environment_secure(void);

/*
 * Clears it: what stays is TERM, NO_COLOR, the language and the time zone, as far as they name no
 * file, and a PATH of the system's folders.
 */
void environment_clear(void);

#endif
