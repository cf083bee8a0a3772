/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a command line by a table. See option_table.h. */
#include "cli/option_table.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/numbers.h"
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

/* Stores an integer of any size, an enum or a bool. */
static void store(char *member, size_t size, uint64_t value)
{
    const uint8_t u8 = (uint8_t)value;
    const uint16_t u16 = (uint16_t)value;
    const uint32_t u32 = (uint32_t)value;

    memcpy(member,
           size == 1   ? &u8
           : size == 2 ? (const void *)&u16
           : size == 4 ? (const void *)&u32
                       : (const void *)&value,
           size);
}

static bool read_choice(const struct cli_option *o, const char *text, uint64_t *value)
{
    char **words = g_strsplit(o->argument, "|", -1);
    bool found = false;

    for (guint i = 0; words[i] && !found; i++) {
        found = strcmp(words[i], text) == 0;
        *value = o->low + i;
    }
    g_strfreev(words);
    return found;
}

static bool read_value(const struct cli_option *o, const char *text, uint64_t *value)
{
    switch (o->kind) {
    case CLI_CHOICE:
        return read_choice(o, text, value);
    case CLI_NUMBER:
        return parse_number(text, o->low, o->high, value);
    case CLI_BYTES:
        return parse_size(text, o->low, o->high, value);
    default:
        return parse_seconds(text, value);
    }
}

/* "text, json, junit or tap" */
static char *list_choices(const struct cli_option *o)
{
    char **words = g_strsplit(o->argument, "|", -1);
    GString *list = g_string_new(words[0]);

    for (guint i = 1; words[i]; i++)
        g_string_append_printf(list, "%s%s", words[i + 1] ? ", " : " or ", words[i]);
    g_strfreev(words);
    return g_string_free(list, FALSE);
}

/* FORM: the form of the option that was typed. */
static void refuse_value(const struct cli_option *o, const char *form, const char *text)
{
    char *wanted = o->wanted ? g_strdup(o->wanted)
                   : o->kind == CLI_CHOICE
                       ? list_choices(o)
                       : g_strdup_printf("a number from %" PRIu64 " to %" PRIu64, o->low, o->high);

    say("%s needs %s, not '%s'", form, wanted, text);
    g_free(wanted);
}

/* Returns false after a message. */
static bool take_option(const struct cli_option *o, const char *form, void *options)
{
    char *member = (char *)options + o->offset;
    uint64_t value;
    bool good = true;

    if (o->kind == CLI_FLAG)
        *(bool *)member = true;
    else if (o->kind == CLI_TEXT)
        memcpy(member, &optarg, sizeof(optarg));
    else if (o->kind == CLI_CALL)
        good = o->take(options, o->argument ? optarg : NULL);
    else if ((good = read_value(o, optarg, &value)))
        store(member, o->size, value);
    if (!good && (o->kind != CLI_CALL || o->wanted))
        refuse_value(o, form, optarg);
    return good;
}

/* Takes the option that getopt_long() returned as VALUE. Returns false after a message. */
static bool take_given(const struct cli_program *program, int value, void *options)
{
    const struct cli_option *o = find_option(program->options, value);
    char *form = value >= LONG_ONLY ? g_strdup_printf("--%s", o->name)
                                    : g_strdup_printf("-%c", value);
    bool good = take_option(o, form, options);

    if (!good)
        cli_advise_help(program);
    g_free(form);
    return good;
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
        if (!take_given(program, value, options))
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
    say("standard output: cannot be written: %s", g_strerror(errno));
    return false;
}

const struct cli_option *cli_option_named(const struct cli_program *program, const char *name)
{
    const struct cli_option *o = program->options;

    while (!is_option(o) || !o->name || strcmp(o->name, name) != 0)
        o++;
    return o;
}

int cli_end(const struct cli_program *program, enum cli_result result, int unwritable)
{
    GString *text;
    bool good;

    if (result == CLI_REFUSED)
        return 2;
    text = result == CLI_SHOW_HELP ? cli_help(program) : g_string_new(program->command);
    if (result == CLI_SHOW_VERSION)
        g_string_append(text, " " IPOIB_VERSION "\n");
    good = cli_print(text->str);
    g_string_free(text, TRUE);
    return good ? 0 : unwritable;
}

void cli_advise_help(const struct cli_program *program)
{
    say("try '%s --help'", program->command);
}
