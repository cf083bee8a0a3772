/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Common parts of the programs ipoib-check and ipoib-probe: start-up, and the report options. */
#ifndef IPOIB_REPORT_PROGRAM_H
#define IPOIB_REPORT_PROGRAM_H

#include "report/report.h"

/*
 * Sets up messages and signals. name: prefix of all messages, including those of getopt. *stop is
 * set to the signal number when the program should end; a blocking read then returns.
 */
void program_begin(char **argv, char *name, volatile int *stop);

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_JUNIT, FORMAT_TAP };
const struct report_parts *format_parts(enum format f);

/* Parse the arguments of --format and --only. Return false after printing an error. */
bool format_read(enum format *f, const char *name);
bool only_read(GPtrArray *only, struct selection *selection, char *selector);
/*
 * Call after the last option: without --only it selects all rules. It also terminates the list of
 * selectors.
 */
void only_end(GPtrArray *only, struct selection *selection);

/*
 * Use colours? Only if stdout is a terminal and there is no output file, and NO_COLOR is unset or
 * empty (no-color.org). output: the argument of -o.
 */
bool use_colours(const char *output);

#endif
