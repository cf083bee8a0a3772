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

/* Entries of the option table: name, argument and help. The program adds how they are handled. */
#define REPORT_OPTION_FORMAT                                                                       \
    .name = "format", .argument = "text|json|junit|tap",                                           \
    .help = "select the report's format (default: text)"
#define REPORT_OPTION_STRICT                                                                       \
    .name = "strict", .help = "count a violated SHOULD like a violated MUST"
#define REPORT_OPTION_DEVIATIONS                                                                   \
    .name = "deviations", .argument = "NAME",                                                      \
    .help = "select the known deviations, which are shown but not counted: linux (Linux, OpenSM "  \
            "and programs on Linux hosts, the default), none, or the path of a file"
#define REPORT_OPTION_ONLY                                                                         \
    .name = "only", .argument = "SELECTOR",                                                        \
    .help = "check only these rules: an identifier or a prefix of it (rfc4755, rfc4391.6); may "   \
            "be given several times"
#define REPORT_OPTION_OUTPUT                                                                       \
    .letter = 'o', .name = "output", .argument = "FILE",                                           \
    .help = "write the report to FILE instead of standard output"
#define REPORT_OPTION_EXPLAIN                                                                      \
    .name = "explain", .argument = "RULE",                                                         \
    .help = "print what a rule means, what evidence it needs, how to see it in Wireshark, and "    \
            "what to do about a violation"

/* Parse the arguments of --format and --only. Return false and set ERROR (G_OPTION_ERROR). */
bool format_read(enum format *f, const char *name, GError **error);
bool only_read(GPtrArray *only, struct selection *selection, const char *selector, GError **error);
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
