/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of a program, in one table: getopt_long's tables, the text of --help and the handling
 * of each option come from it. tests/test_manual.py compares the manual page with --help.
 */
#ifndef IPOIB_CLI_OPTION_TABLE_H
#define IPOIB_CLI_OPTION_TABLE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

enum cli_option_kind {
    CLI_CALL,    /* take() handles it */
    CLI_FLAG,    /* sets the bool at OFFSET */
    CLI_TEXT,    /* stores the value in the pointer at OFFSET */
    CLI_HELP,    /* stops parsing */
    CLI_VERSION, /* stops parsing */
    CLI_HEADING, /* no option: HELP is a heading of --help */
    CLI_END,     /* last entry of the table */
};

struct cli_option {
    enum cli_option_kind kind;
    char letter;          /* 0: no short form */
    const char *name;     /* long form, without dashes; NULL: none */
    const char *argument; /* name of the value; NULL: the option takes none */
    const char *help;     /* one imperative text, without a full stop at its end */
    size_t offset;        /* of a member of the program's options */
    /* Returns false after a message. VALUE is NULL if the option takes none. */
    bool (*take)(void *options, const char *value);
    unsigned group; /* bit that is set in *GROUPS if the option is given; 0: CLI_NO_GROUP */
};

#define CLI_NO_GROUP (1u << 31)

/* Initialisers for the kind, and for offset or take. */
#define CLI_SETS(type, member)   .kind = CLI_FLAG, .offset = offsetof(struct type, member)
#define CLI_STORES(type, member) .kind = CLI_TEXT, .offset = offsetof(struct type, member)
#define CLI_CALLS(function)      .kind = CLI_CALL, .take = (function)

/* Entries that every program has. */
#define CLI_OPTION_HELP .letter = 'h', .name = "help", .help = "print this help", .kind = CLI_HELP
#define CLI_OPTION_VERSION                                                                         \
    .letter = 'V', .name = "version", .help = "print the version", .kind = CLI_VERSION

struct cli_program {
    const char *command; /* as in "try 'ipoib-check --help'" */
    const char *start;   /* --help before the options */
    const struct cli_option *options;
    const char *end; /* --help after the options */
};

enum cli_result { CLI_READ, CLI_REFUSED, CLI_SHOW_HELP, CLI_SHOW_VERSION };

/*
 * Reads the options of ARGV into OPTIONS. CLI_READ: optind is the index of the first argument that
 * is not an option. CLI_REFUSED: a message was printed. GROUPS: the groups of the options given;
 * may be NULL.
 */
enum cli_result cli_read(const struct cli_program *program, int argc, char **argv, void *options,
                         unsigned *groups);

/* The text of --help, to be freed. */
GString *cli_help(const struct cli_program *program);

/* Prints TEXT to standard output. Returns false after a message. */
bool cli_print(const char *text);

/* Prints the text of --help. Returns the exit status: 0, or 1 after a message. */
int cli_print_help(const struct cli_program *program);

/* Prints the advice to read --help, the end of a message about wrong usage. */
void cli_advise_help(const struct cli_program *program);

#endif
