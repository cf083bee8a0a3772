/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of a manual page, in mdoc(7). See option_table.h. */
#include "cli/option_table.h"

#include <string.h>

enum { LINE_LEN = 100 }; /* of the page's source, as in other documents */

/* "Fl o , -output Ar FILE" */
static void append_forms(GString *to, const struct cli_option *o)
{
    g_string_append(to, ".It Fl ");
    if (o->letter)
        g_string_append_c(to, o->letter);
    if (o->letter && o->name)
        g_string_append(to, " , ");
    if (o->name)
        g_string_append_printf(to, "-%s", o->name);
    if (o->argument && strchr(o->argument, '|')) {
        char **words = g_strsplit(o->argument, "|", -1), *joined = g_strjoinv(" | ", words);

        g_string_append_printf(to, " Cm %s", joined);
        g_strfreev(words);
        g_free(joined);
    } else if (o->argument) {
        g_string_append_printf(to, " Ar %s", o->argument);
    }
    g_string_append_c(to, '\n');
}

/* Is it a name of the option's value, such as WORD of "WORD[,WORD]"? */
static bool is_argument(const struct cli_option *o, const char *word, size_t len)
{
    char **names = o->argument ? g_strsplit_set(o->argument, "[],|", -1) : NULL;
    bool is = false;

    for (char **name = names; name && *name; name++)
        is |= len > 0 && g_ascii_isupper(word[0]) && strlen(*name) == len &&
              strncmp(*name, word, len) == 0;
    g_strfreev(names);
    return is;
}

/* "-o" or "--output" */
static bool is_option_form(const char *word, size_t len)
{
    size_t dashes = strspn(word, "-");

    return dashes >= 1 && dashes <= 2 && len > dashes && g_ascii_isalnum(word[dashes]);
}

/* roff reads a backslash as an escape; LITERAL: \- is the dash that users type. */
static void append_escaped(GString *to, const char *text, size_t len, bool literal)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\\')
            g_string_append(to, "\\e");
        else if (text[i] == '-' && literal)
            g_string_append(to, "\\-");
        else
            g_string_append_c(to, text[i]);
}

/* Appends a word in the font of its kind, and the punctuation around it in the text's. */
static void append_word(GString *to, const struct cli_option *o, const char *word)
{
    size_t before = strspn(word, "("), len = strlen(word) - before;
    const char *core = word + before, *font;

    while (len > 0 && strchr(".,;:)", core[len - 1]))
        len--;
    font = is_option_form(core, len) ? "\\fB" : is_argument(o, core, len) ? "\\fI" : "";
    append_escaped(to, word, before, false);
    g_string_append(to, font);
    append_escaped(to, core, len, font[0] || len == 1);
    g_string_append(to, font[0] ? "\\fR" : "");
    append_escaped(to, core + len, strlen(core + len), false);
}

/* `auto` becomes bold: the quotes may be around several words. Returns the roff source of a word.
 */
static char *roff_word(const struct cli_option *o, const char *word, bool *quoted)
{
    GString *to = g_string_new(NULL);
    char **parts = g_strsplit(word, "`", -1);

    for (char **part = parts; *part; part++) {
        if (part != parts) {
            *quoted = !*quoted;
            g_string_append(to, *quoted ? "\\fB" : "\\fR");
        }
        if (*quoted)
            append_escaped(to, *part, strlen(*part), true);
        else
            append_word(to, o, *part);
    }
    g_strfreev(parts);
    return g_string_free(to, FALSE);
}

static bool ends_sentence(const char *word)
{
    size_t len = strlen(word);

    return len > 0 && word[len - 1] == '.';
}

/* Each sentence starts a line, as roff wants it; a line that starts with a word does no harm. */
static void append_paragraph(GString *to, const struct cli_option *o, const char *text)
{
    char **words = g_strsplit(text, " ", -1);
    bool quoted = false;
    size_t at = 0;

    for (char **word = words; *word; word++) {
        char *source = roff_word(o, *word, &quoted);
        size_t len = strlen(source);

        if (at > 0 && (at + 1 + len > LINE_LEN || ends_sentence(word[-1]))) {
            g_string_append_c(to, '\n');
            at = 0;
        } else if (at > 0) {
            g_string_append_c(to, ' ');
            at++;
        }
        if (at == 0 && (source[0] == '.' || source[0] == '\''))
            g_string_append(to, "\\&");
        g_string_append(to, source);
        at += len;
        g_free(source);
    }
    g_string_append_c(to, '\n');
    g_strfreev(words);
}

static void append_option(GString *to, const struct cli_option *o)
{
    char *text = g_strdup_printf("%c%s.%s%s", g_ascii_toupper(o->help[0]), o->help + 1,
                                 o->details ? " " : "", o->details ? o->details : "");
    char **paragraphs = g_strsplit(text, "\n\n", -1);

    append_forms(to, o);
    for (char **p = paragraphs; *p; p++) {
        if (p != paragraphs)
            g_string_append(to, ".Pp\n");
        append_paragraph(to, o, *p);
    }
    g_strfreev(paragraphs);
    g_free(text);
}

GString *cli_manual(const struct cli_program *program)
{
    static const char begin[] = ".Bl -tag -width Ds\n", end[] = ".El\n";
    GString *text = g_string_new(NULL);
    bool open = false;

    for (const struct cli_option *o = program->options; o->kind != CLI_END; o++) {
        if (o->kind == CLI_HEADING) {
            g_string_append_printf(text, "%s.Ss %s\n", open ? end : "", o->help);
            open = false;
            continue;
        }
        if (!open)
            g_string_append(text, begin);
        open = true;
        append_option(text, o);
    }
    g_string_append(text, open ? end : "");
    return text;
}
