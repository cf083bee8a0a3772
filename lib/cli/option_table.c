/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a command line by a table. See option_table.h. */
#include "cli/option_table.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/say.h"

enum { LONG_ONLY = 256 }; /* getopt_long's value of the option at this index, plus the index */

/* getopt_long's tables. */
struct getopt_tables {
    GArray *longs; /* struct option */
    GString *shorts;
};

static bool is_option(const struct cli_option *o)
{
    return o->kind != CLI_HEADING;
}

/* Each long form has its entry's index as value, so a letter is found by its own search. */
static struct getopt_tables make_getopt_tables(const struct cli_option *options)
{
    struct getopt_tables t = {g_array_new(TRUE, TRUE, sizeof(struct option)), g_string_new(":")};

    for (int i = 0; options[i].kind != CLI_END; i++) {
        const struct cli_option *o = &options[i];
        struct option known = {o->name, o->argument ? required_argument : no_argument, NULL,
                               LONG_ONLY + i};

        if (is_option(o) && o->name)
            g_array_append_val(t.longs, known);
        if (is_option(o) && o->letter)
            g_string_append_printf(t.shorts, "%c%s", o->letter, o->argument ? ":" : "");
    }
    return t;
}

static void free_tables(struct getopt_tables *t)
{
    g_array_unref(t->longs);
    g_string_free(t->shorts, TRUE);
}

static const struct cli_option *find_option(const struct cli_option *options, int value)
{
    if (value >= LONG_ONLY)
        return &options[value - LONG_ONLY];
    while (!is_option(options) || options->letter != value)
        options++;
    return options;
}

/*
 * Names the option that getopt_long() refused. optopt is a letter if a short form was refused.
 * getopt_long()'s own messages would print the user's text to the terminal unescaped.
 */
static void refuse_usage(const struct cli_program *program, int why, char **argv)
{
    char letter[3] = {'-', (char)optopt, '\0'};
    bool is_letter = optopt > ' ' && optopt < 0x7f;
    const char *option = is_letter ? letter : argv[optind - 1];

    if (optopt >= LONG_ONLY && why == '?')
        say("--%s takes no value", program->options[optopt - LONG_ONLY].name);
    else if (optopt < 0 || (optopt > 0x7e && optopt < LONG_ONLY))
        say("unknown option: not an ASCII letter");
    else if (why == ':')
        say("%s needs a value", option);
    else
        say("unknown option %s", option);
    cli_advise_help(program);
}

static bool take_option(const struct cli_program *program, const struct cli_option *o,
                        void *options)
{
    char *member = (char *)options + o->offset;

    if (o->kind == CLI_FLAG)
        *(bool *)member = true;
    else if (o->kind == CLI_TEXT)
        memcpy(member, &optarg, sizeof(optarg));
    else if (!o->take(options, o->argument ? optarg : NULL)) {
        cli_advise_help(program);
        return false;
    }
    return true;
}

static enum cli_result read_with(const struct cli_program *program, const struct getopt_tables *t,
                                 int argc, char **argv, void *options, unsigned *groups)
{
    const struct option *longs = (const struct option *)(void *)t->longs->data;
    int value;

    while ((value = getopt_long(argc, argv, t->shorts->str, longs, NULL)) != -1) {
        const struct cli_option *o;

        if (value == '?' || value == ':') {
            refuse_usage(program, value, argv);
            return CLI_REFUSED;
        }
        o = find_option(program->options, value);
        *groups |= o->group ? o->group : CLI_NO_GROUP;
        if (o->kind == CLI_HELP || o->kind == CLI_VERSION)
            return o->kind == CLI_HELP ? CLI_SHOW_HELP : CLI_SHOW_VERSION;
        if (!take_option(program, o, options))
            return CLI_REFUSED;
    }
    return CLI_READ;
}

enum cli_result cli_read(const struct cli_program *program, int argc, char **argv, void *options,
                         unsigned *groups)
{
    struct getopt_tables t = make_getopt_tables(program->options);
    unsigned unused = 0;
    enum cli_result result;

    opterr = 0;
    optind = 0; /* GNU: start again, also the state within an argument such as -ab */
    result = read_with(program, &t, argc, argv, options, groups ? groups : &unused);
    free_tables(&t);
    return result;
}

bool cli_print(const char *text)
{
    /* each of the two can fail: a long text is written by fputs() in part */
    if (fputs(text, stdout) >= 0 && fflush(stdout) == 0)
        return true;
    say("standard output: cannot be written");
    return false;
}

int cli_print_help(const struct cli_program *program)
{
    GString *text = cli_help(program);
    int status = cli_print(text->str) ? 0 : 1;

    g_string_free(text, TRUE);
    return status;
}

void cli_advise_help(const struct cli_program *program)
{
    say("try '%s --help'", program->command);
}
