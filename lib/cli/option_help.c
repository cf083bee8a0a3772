/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of --help: forms of each option on the left, its explanation on the right. */
#include "cli/option_table.h"

#include <string.h>

enum {
    LINE_LEN = 79, /* a terminal's line without its last column */
    FORMS_MAX = 26 /* longer forms have a line of their own */
};

/* "  -o, --output FILE"; long forms are aligned. */
static GString *forms(const struct cli_option *o)
{
    GString *text = g_string_new("  ");

    if (o->letter)
        g_string_append_printf(text, "-%c%s", o->letter, o->name ? ", " : "");
    else
        g_string_append(text, "    ");
    if (o->name)
        g_string_append_printf(text, "--%s", o->name);
    if (o->argument)
        g_string_append_printf(text, " %s", o->argument);
    return text;
}

/* Column where the explanations start: after the longest forms that are not too long. */
static gsize help_column(const struct cli_option *options)
{
    gsize longest = 0;

    for (; options->kind != CLI_END; options++) {
        GString *text = forms(options);

        if (options->kind != CLI_HEADING && text->len <= FORMS_MAX)
            longest = MAX(longest, text->len);
        g_string_free(text, TRUE);
    }
    return longest + 2;
}

/* Appends N spaces. */
static void pad(GString *to, gsize n)
{
    for (; n > 0; n--)
        g_string_append_c(to, ' ');
}

/* Appends the words of TEXT in lines that start at COLUMN; the first starts where TO ends. */
static void append_wrapped(GString *to, const char *text, gsize column)
{
    char **words = g_strsplit(text, " ", -1);
    gsize at = column;

    for (char **word = words; *word; word++) {
        gsize len = strlen(*word);

        if (word != words && at + 1 + len > LINE_LEN) {
            g_string_append_c(to, '\n');
            pad(to, column);
            at = column;
        } else if (word != words) {
            g_string_append_c(to, ' ');
            at++;
        }
        g_string_append(to, *word);
        at += len;
    }
    g_string_append_c(to, '\n');
    g_strfreev(words);
}

static void append_option(GString *to, const struct cli_option *o, gsize column)
{
    GString *text = forms(o);

    g_string_append(to, text->str);
    if (text->len + 2 > column) {
        g_string_append_c(to, '\n');
        pad(to, column);
    } else {
        pad(to, column - text->len);
    }
    append_wrapped(to, o->help, column);
    g_string_free(text, TRUE);
}

GString *cli_help(const struct cli_program *program)
{
    GString *text = g_string_new(program->start);
    gsize column = help_column(program->options);

    for (const struct cli_option *o = program->options; o->kind != CLI_END; o++) {
        if (o->kind == CLI_HEADING)
            g_string_append_printf(text, "%s%s:\n", o == program->options ? "" : "\n", o->help);
        else
            append_option(text, o, column);
    }
    g_string_append(text, program->end);
    return text;
}
