/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/wrap.h"

#include <stdbool.h>
#include <string.h>

/* Columns of the word on a terminal. */
static size_t columns(const char *word)
{
    size_t n = 0;

    for (const char *p = word; *p; p++) {
        const char *end = *p == '\033' ? strchr(p, 'm') : NULL;

        if (end)
            p = end;
        else
            n += ((unsigned char)*p & 0xc0) !=
                 0x80; /* UTF-8: bytes after the first of a character */
    }
    return n;
}

/* No line ends with a space. */
static void begin_line(GString *out, size_t indent)
{
    while (g_str_has_suffix(out->str, " "))
        g_string_truncate(out, out->len - 1);
    g_string_append_printf(out, "\n%*s", (int)indent, "");
}

/* Appends the word to the line, or begins a line if fewer than `needed` columns are left. */
static void put_word(GString *out, const char *word, size_t needed, size_t *at, size_t indent)
{
    if (*at > indent && *at + 1 + needed > WRAP_WIDTH) {
        begin_line(out, indent);
        *at = indent;
    } else if (*at > indent) {
        g_string_append_c(out, ' ');
        ++*at;
    }
    g_string_append(out, word);
    *at += columns(word);
}

void wrap_words(GString *out, const char *text, size_t at, size_t indent)
{
    char **words = g_strsplit_set(text, " \n", -1);

    for (size_t i = 0; words[i]; i++)
        if (*words[i])
            put_word(out, words[i], columns(words[i]), &at, indent);
    g_string_append_c(out, '\n');
    g_strfreev(words);
}

/* The columns from the word to the end of its command or comment. */
static size_t command_columns(char **words)
{
    size_t n = 0;

    for (; *words; words++) {
        n += **words ? columns(*words) + (n > 0) : 0;
        if (g_str_has_suffix(*words, ";") || (words[1] && words[1][0] == '#'))
            break;
    }
    return n;
}

void wrap_commands(GString *out, const char *text, size_t at, size_t indent)
{
    char **words = g_strsplit_set(text, " \n", -1);
    bool first = true; /* of a command or comment */

    for (size_t i = 0; words[i]; i++) {
        if (!*words[i])
            continue;
        first |= words[i][0] == '#';
        size_t whole = first ? command_columns(words + i) : 0,
               needed = whole <= WRAP_WIDTH - indent ? whole : 0;
        put_word(out, words[i], MAX(needed, columns(words[i])), &at, indent);
        first = g_str_has_suffix(words[i], ";");
    }
    g_string_append_c(out, '\n');
    g_strfreev(words);
}

char *wrap_cut(const char *text, size_t max)
{
    if (strlen(text) <= max)
        return g_strdup(text);
    const char *end = text + max - strlen(" ...");
    while (end > text && *end != ' ')
        end--;
    if (end == text) /* one word */
        end = g_utf8_find_prev_char(text, text + max - strlen(" ..."));
    return g_strdup_printf("%.*s ...", (int)(end - text), text);
}

unsigned wrap_lines(const char *text)
{
    unsigned n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}
