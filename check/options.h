/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of ipoib-check. */
#ifndef IPOIB_CHECK_OPTIONS_H
#define IPOIB_CHECK_OPTIONS_H

#include "model/interfaces.h"
#include "report/program.h"

struct options {
    enum format format;
    bool strict, list, merge, help, version;
    bool judges; /* an option was given that says how to judge: --strict and the like */
    enum interfaces_mode interfaces;
    const char *explain; /* a rule; NULL: none */
    char *annotate;      /* the path of the annotated capture; NULL: none is wanted */
    const char *deviations;
    const char *node;   /* NULL: none */
    const char *output; /* NULL: stdout */
    char *baseline;     /* the path of a report; NULL: none */
    GPtrArray *require; /* selectors of rules that have to be judged */
    GPtrArray *only;    /* selectors, NULL at the end; empty: all rules */
    struct selection selection;
    char **captures; /* of argv; with merge: reports */
    int n_captures;
};

/* False after a message: the usage is wrong. To be cleared either way. */
bool options_read(struct options *o, int argc, char **argv);
void options_clear(struct options *o);

extern const char options_help[];

#endif
