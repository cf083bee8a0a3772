/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Helper process: this program, started again with a subcommand that users do not call. It does
 * what must be undone even if the capture is killed: when its socket to the capture closes, it
 * undoes it and ends.
 */
#ifndef CAPTURE_HELPER_H
#define CAPTURE_HELPER_H

#include <glib.h>
#include <stdbool.h>

struct helper {
    int fd; /* socket to its standard input; -1: none */
    int pid;
};

struct helper_plan {
    const char *what; /* in messages: "the process that keeps the groups" */
    char **argv;      /* ends with NULL; argv[1] is the subcommand */
    bool isolated;    /* no environment, and no standard error: for one that loads other code */
    int kept;         /* a descriptor that the helper holds open as long as it runs; -1: none */
};

/* Starts the helper. Returns false and sets ERROR if that fails. */
bool helper_start(struct helper *helper, const struct helper_plan *plan, GError **error);

/*
 * Waits at most MS for the helper to end. Returns false if it has not ended. *STATUS: as waitpid();
 * NULL: not wanted.
 */
bool helper_has_ended(const struct helper *helper, int ms, int *status);

/* --- for the helper itself */

/* Set by SIGTERM: the helper is to end. */
extern volatile int helper_stopped;

/* SIGTERM and the end of the capture set helper_stopped; signals of the terminal do nothing. */
void helper_catch_signals(void);

/* No signal that can be ignored ends the helper: only the end of its socket does. */
void helper_ignore_signals(void);

#endif
