/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Environment of a program with more privileges than its user, by file capabilities or set-user-ID.
 * Libraries read environment variables (libibverbs loads what RDMAV_DRIVERS names), so every user
 * could run code with the program's privileges.
 */
#ifndef IPOIB_CLI_ENVIRONMENT_H
#define IPOIB_CLI_ENVIRONMENT_H

/* Clears the environment of such a program (AT_SECURE, getauxval(3)). Call first in main. */
void environment_secure(void);

/*
 * Clears the environment. Keeps TERM, NO_COLOR, language and time zone if they name no file; sets
 * PATH to the system's folders if there is one.
 */
void environment_clear(void);

/*
 * Opens file descriptors 0 to 2 if the caller closed them. Otherwise an output file could get one
 * of these numbers, and messages would be written into it. They are read-only, so that writing to
 * a closed stdout fails.
 */
void environment_open_standard_files(void);

/*
 * Ignores the signals of a failed write (a closed pipe, ulimit -f), so that the write returns an
 * error, which gets a message and an exit status.
 */
void environment_report_failed_writes(void);

#endif
