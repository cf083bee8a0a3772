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
};

/* Starts the helper. Returns false and sets ERROR if that fails. */
bool helper_start(struct helper *helper, const struct helper_plan *plan, GError **error);

/* Waits at most MS for the helper to end. Returns false if it has not ended. */
bool helper_has_ended(const struct helper *helper, int ms);

/* --- for the helper itself */

/* Set by SIGTERM: the helper is to end. */
extern volatile int helper_stopped;

/*
 * SIGTERM sets helper_stopped; signals of the terminal do nothing. WITH_CAPTURE: the end of the
 * capture is a SIGTERM.
 */
void helper_catch_signals(bool with_capture);

#endif
