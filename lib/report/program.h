/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Common parts of the programs ipoib-check and ipoib-probe: start-up, and the report options. */
#ifndef IPOIB_REPORT_PROGRAM_H
#define IPOIB_REPORT_PROGRAM_H

#include "report/report.h"

/*
 * Sets up the standard files, getopt and signals. name: prefix of getopt's messages. *stop is set
 * to the signal number when the program should end; a blocking read then returns.
 */
void program_begin(char **argv, char *name, volatile int *stop);

/* In the order of the values of --format; ipoib-check has no metrics. */
enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_JUNIT, FORMAT_TAP, FORMAT_JSONL, FORMAT_PROMETHEUS };
/* Not of FORMAT_PROMETHEUS. */
const struct report_parts *format_parts(enum format f);

/*
 * Entries of the option table: names, argument and texts. The program adds the member, or the
 * function, that takes the value.
 */
#define REPORT_OPTION_FORMAT                                                                       \
    .name = "format", .argument = "text|json|junit|tap|jsonl",                                     \
    .help = "set the report's format (default: text)"
#define REPORT_OPTION_STRICT                                                                       \
    .name = "strict", .help = "count a violated SHOULD like a violated MUST"
#define REPORT_OPTION_DEVIATIONS                                                                   \
    .name = "deviations", .argument = "NAME",                                                      \
    .help = "known deviations: linux, none, FILE (default: linux)",                                \
    .details = "The report shows the known deviations, but they do not change the verdict. "       \
               "`linux` is the list of the deviations of Linux, MLNX_OFED, OpenSM and programs "   \
               "on Linux hosts; `none` is an empty list. "                                         \
               "Any other NAME is the path of a file with your own list."
#define REPORT_OPTION_ONLY                                                                         \
    .name = "only", .argument = "SELECTOR",                                                        \
    .help = "check only these rules; may be given several times",                                  \
    .details = "SELECTOR is the identifier of a rule, or a prefix of several identifiers, such "   \
               "as `rfc4755` or `rfc4391.6`."
#define REPORT_OPTION_OUTPUT                                                                       \
    .letter = 'o', .name = "output", .argument = "FILE",                                           \
    .help = "write the report to FILE, not to standard output",                                    \
    .details = "The report is written completely or not at all, unless FILE can only be "          \
               "overwritten, such as a mount point. "                                              \
               "A FILE that exists keeps its mode. "                                               \
               "The program refuses a FILE that another user has put into a folder that others "   \
               "can write to, such as /tmp."
#define REPORT_OPTION_EXPLAIN                                                                      \
    .name = "explain", .argument = "RULE",                                                         \
    .help = "explain a rule, event or stage; say what to do",                                      \
    .details =                                                                                     \
        "The text also says what evidence the rule needs, and how to see it in "                   \
        "Wireshark. "                                                                              \
        "RULE is an identifier, or a prefix that only one identifier has, or the name of an "      \
        "event, such as `join_refused`, or of a stage of ipoib-probe, such as `fabric.join`."

/* Parses the argument of --only. what: "rule", for the error that it sets if it returns false. */
bool only_read(GPtrArray *only, struct rule_selection *selection, const char *selector,
               const char *what, GError **error);
/*
 * Call after the last option: without --only it selects all rules. It also terminates the list of
 * selectors.
 */
void only_end(GPtrArray *only, struct rule_selection *selection);

/*
 * Use colours? Only if stdout is a terminal and there is no output file, and NO_COLOR is unset or
 * empty (no-color.org). output: the argument of -o.
 */
bool use_colours(const char *output);

#endif
