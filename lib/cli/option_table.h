/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of a program, in one table: getopt_long's tables, the handling of each option, the
 * text of --help, the manual page's options (script/manuals) and the texts of Wireshark's dialog
 * come from it.
 */
#ifndef IPOIB_CLI_OPTION_TABLE_H
#define IPOIB_CLI_OPTION_TABLE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_option_kind {
    CLI_CALL,    /* take() handles it */
    CLI_FLAG,    /* sets the bool at OFFSET */
    CLI_TEXT,    /* stores the value in the pointer at OFFSET */
    CLI_CHOICE,  /* stores LOW plus the index of the value in ARGUMENT, "first|second|third" */
    CLI_NUMBER,  /* stores an integer from LOW to HIGH */
    CLI_BYTES,   /* the same, with the suffixes K, M and G */
    CLI_SECONDS, /* stores a time, given in seconds, in nanoseconds */
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
    const char *help;     /* one imperative line, without a full stop at its end */
    /*
     * The manual page's sentences after HELP, or NULL. "\n\n" starts a paragraph. Words in
     * backquotes are set in bold; options, and names of the value, are recognised
     * (option_manual.c).
     */
    const char *details;
    const char *label;         /* short name in Wireshark's dialog; NULL: it is not shown there */
    const char *const *labels; /* the same of each value of CLI_CHOICE, or NULL */
    size_t offset, size;       /* of a member of the program's options */
    /* VALUE is NULL if the option takes none. Returns false if it refuses the value: after printing
     * a message, or without one if there is WANTED, from which the caller makes the message. */
    bool (*take)(void *options, const char *value);
    uint64_t low, high;
    const char *wanted; /* in the message about a wrong value; CLI_CHOICE lists its values */
    unsigned group;     /* bit that is set in *GROUPS if the option is given; 0: CLI_NO_GROUP */
};

#define CLI_NO_GROUP (1u << 31)

/* Initialisers for the kind, and for the member that takes the value or the function. */
#define CLI_MEMBER(type, member)                                                                   \
    .offset = offsetof(struct type, member), .size = sizeof(((struct type *)0)->member)
#define CLI_SETS(type, member)    .kind = CLI_FLAG, CLI_MEMBER(type, member)
#define CLI_STORES(type, member)  .kind = CLI_TEXT, CLI_MEMBER(type, member)
#define CLI_CHOOSES(type, member) .kind = CLI_CHOICE, CLI_MEMBER(type, member)
#define CLI_COUNTS(type, member, min, max)                                                         \
    .kind = CLI_NUMBER, CLI_MEMBER(type, member), .low = (min), .high = (max)
#define CLI_MEASURES(type, member, min, max)                                                       \
    .kind = CLI_BYTES, CLI_MEMBER(type, member), .low = (min), .high = (max)
#define CLI_TIMES(type, member)                                                                    \
    .kind = CLI_SECONDS, CLI_MEMBER(type, member), .wanted = "a number of seconds"
#define CLI_CALLS(function) .kind = CLI_CALL, .take = (function)

/* Entries that every program has. */
#define CLI_OPTION_HELP                                                                            \
    .letter = 'h', .name = "help", .help = "print a summary of the options", .kind = CLI_HELP
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

/* The option with the long form NAME, which the table must have. */
const struct cli_option *cli_option_named(const struct cli_program *program, const char *name);

/* The text of --help, to be freed. */
GString *cli_help(const struct cli_program *program);

/* The options as a list of an mdoc(7) page, to be freed. */
GString *cli_manual(const struct cli_program *program);

/*
 * Ends a program after anything but CLI_READ: prints what was asked for, the help or
 * "COMMAND VERSION". Returns the exit status: 0; UNWRITABLE if standard output cannot be written; 2
 * after wrong usage.
 */
int cli_end(const struct cli_program *program, enum cli_result result, int unwritable);

/* Prints TEXT to standard output. Returns false after a message. */
bool cli_print(const char *text);

/* Prints the advice to read --help, the end of a message about wrong usage. */
void cli_advise_help(const struct cli_program *program);

#endif
