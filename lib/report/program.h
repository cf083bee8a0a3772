/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ipoib-check and ipoib-probe have in common as programs: how they begin, and the options
 * about their reports.
 */
#ifndef IPOIB_REPORT_PROGRAM_H
#define IPOIB_REPORT_PROGRAM_H

#include "report/report.h"

/*
 * name: begins messages, getopt's too. *stop becomes the number of the signal that wants the
 * program to end; a read that waits ends then.
 */
void program_begin(char **argv, char *name, volatile int *stop);

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_JUNIT, FORMAT_TAP };
const struct report_parts *format_parts(enum format f);

/* The arguments of --format and --only. False after a message. */
bool format_read(enum format *f, const char *name);
bool only_read(GPtrArray *only, struct selection *selection, char *selector);
/*
 * Behind the last option: without --only all rules are selected; the list of selectors gets its
 * end.
 */
void only_end(GPtrArray *only, struct selection *selection);

/*
 * Colours where a person looks at it: a terminal, unless NO_COLOR is set to anything
 * (no-color.org). output: -o.
 */
bool use_colours(const char *output);

#endif
