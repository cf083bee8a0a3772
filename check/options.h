/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of ipoib-check. */
#ifndef IPOIB_CHECK_OPTIONS_H
#define IPOIB_CHECK_OPTIONS_H

#include "cli/option_table.h"
#include "model/interfaces.h"
#include "report/program.h"

struct options {
    enum format format;
    bool strict, list, merge, verbose;
    /* --fail-on; its values in this order */
    enum { FAIL_ON_VIOLATED, FAIL_ON_SUSPECTED } fail_on;
    bool checks; /* an option for checking captures was given: --strict and the like */
    enum interfaces_mode interfaces;
    const char *explain; /* a rule; NULL: none */
    char *annotate;      /* path of the annotated capture; NULL: none */
    const char *deviations;
    const char *node;    /* name of the node; NULL: none */
    const char *output;  /* path; NULL: stdout */
    char *baseline;      /* path of a report; NULL: none */
    unsigned min_judged; /* 0: not given */
    GPtrArray *require;  /* selectors of --require */
    GPtrArray *only;     /* selectors of --only, NULL-terminated; empty: all rules */
    struct rule_selection selection;
    char **captures; /* in argv; with merge: reports */
    int n_captures;
};

/*
 * Returns -1 if OPTIONS are filled in, otherwise the exit status: after --help and --version, or
 * after a message about wrong usage. Call check_options_clear() in either case.
 */
int check_options_read(struct options *o, int argc, char **argv);
void check_options_clear(struct options *o);

extern const struct cli_program check_program;

#endif
