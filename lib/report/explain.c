/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/explain.h"

#include <string.h>

#include "cli/fail.h"
#include "report/wrap.h"
#include "rules/rules.h"

enum { NAME_COLUMN = 19, NAMED_MAX = 10 };

/* ---- a paragraph */

/* Removes Markdown's marks from the text. The address of a web link follows its text. */
static char *plain_paragraph(const char *text)
{
    GString *out = g_string_new(NULL);
    const char *p = text;

    while (*p) {
        const char *end = *p == '[' ? strstr(p, "](") : NULL;
        const char *close = end ? strchr(end, ')') : NULL;

        if (!close) {
            if (*p != '`')
                g_string_append_c(out, *p);
            p++;
            continue;
        }
        for (p++; p < end; p++)
            if (*p != '`')
                g_string_append_c(out, *p);
        if (g_str_has_prefix(end + 2, "http"))
            g_string_append_printf(out, " (%.*s)", (int)(close - end - 2), end + 2);
        p = close + 1;
    }
    return g_string_free(out, FALSE);
}

static void append_paragraph(GString *out, const char *markdown)
{
    char *text = plain_paragraph(markdown);

    wrap_words(out, text, 0, 0);
    g_free(text);
}

/* ---- a table's row: | Level | MUST: ... | */

static void append_row(GString *out, const char *row)
{
    char **cells = g_strsplit(row, "|", 4);

    if (g_strv_length(cells) >= 3 && !strchr(cells[1], '-') && *g_strstrip(cells[1])) {
        char *text = plain_paragraph(g_strstrip(cells[2]));

        g_string_append_printf(out, "%-*s", NAME_COLUMN, cells[1]);
        wrap_words(out, text, NAME_COLUMN, NAME_COLUMN);
        g_free(text);
    }
    g_strfreev(cells);
}

/* ---- an item: - `FILTER OR COMMAND`: text, or - text */

static void append_item(GString *out, const char *item)
{
    const char *code = item[0] == '`' ? item + 1 : NULL;
    const char *end = code ? strstr(code, "`: ") : NULL;
    char *text = plain_paragraph(end ? end + 3 : item);
    size_t indent = end ? 6 : 2;

    if (end)
        g_string_append_printf(out, "  %.*s\n      ", (int)(end - code), code);
    else
        g_string_append(out, "- ");
    wrap_words(out, text, indent, indent);
    g_free(text);
}

/* ---- a page */

/* Does this line start a new block, so that it does not continue the paragraph before? */
static bool begins_block(const char *line)
{
    return !*line || g_str_has_prefix(line, "- ") || line[0] == '#' || line[0] == '|';
}

static void append_block(GString *out, const char *block)
{
    if (g_str_has_prefix(block, "## ")) {
        char *heading = g_ascii_strup(block + 3, -1);

        g_string_append_printf(out, "%s\n", heading);
        g_free(heading);
    } else if (g_str_has_prefix(block, "# ")) {
        g_string_append_printf(out, "%s\n", block + 2);
    } else if (block[0] == '|') {
        append_row(out, block);
    } else if (g_str_has_prefix(block, "- ")) {
        append_item(out, block + 2);
    } else if (*block && !g_str_has_prefix(block, "[All ")) {
        append_paragraph(out, block);
    }
}

/* Appends one empty line for any number of them, none after a heading. */
static void append_gap(GString *out, bool below_heading)
{
    if (out->len > 0 && !below_heading && !g_str_has_suffix(out->str, "\n\n"))
        g_string_append_c(out, '\n');
}

void explain_page(GString *out, const char *markdown)
{
    char **lines = g_strsplit(markdown, "\n", -1);
    bool below_heading = false;

    for (size_t i = 0; lines[i]; i++) {
        GString *block = g_string_new(lines[i]);

        if (!*lines[i])
            append_gap(out, below_heading);
        else
            below_heading = g_str_has_prefix(lines[i], "## ");
        while (*lines[i] && lines[i][0] != '#' && lines[i][0] != '|' && lines[i + 1] &&
               !begins_block(lines[i + 1]))
            g_string_append_printf(block, " %s", g_strstrip(lines[++i]));
        append_block(out, block->str);
        g_string_free(block, TRUE);
    }
    while (g_str_has_suffix(out->str, "\n\n"))
        g_string_truncate(out, out->len - 1);
    g_strfreev(lines);
}

/* ---- selection */

static void refuse_several(const char *name, GError **error)
{
    GString *names = g_string_new(NULL);
    unsigned n = 0;

    for (unsigned i = 0; i < rule_pages_number; i++) {
        if (!g_str_has_prefix(rule_pages[i].id, name))
            continue;
        if (n++ < NAMED_MAX)
            g_string_append_printf(names, "%s%s", n > 1 ? ", " : "", rule_pages[i].id);
    }
    fail_with(error, "--explain: %u rules, events and stages begin with '%s': %s%s", n, name,
              names->str, n > NAMED_MAX ? ", ..." : "");
    g_string_free(names, TRUE);
}

bool explain_has_stage(const char *selector)
{
    bool any = false;

    for (unsigned i = 0; i < rule_pages_number; i++)
        any |= rule_pages[i].is_stage && id_selected(rule_pages[i].id, selector);
    return any;
}

const char *explain_rule(GString *out, const char *name, GError **error)
{
    const struct rule_page *found = NULL;
    unsigned n = 0;

    for (unsigned i = 0; i < rule_pages_number; i++) {
        const struct rule_page *page = &rule_pages[i];

        if (strcmp(page->id, name) == 0) {
            explain_page(out, page->text);
            return page->id;
        }
        if (g_str_has_prefix(page->id, name)) {
            found = page;
            n++;
        }
    }
    if (n == 0)
        fail_with(error,
                  "--explain: no rule, event or stage begins with '%s': see --list of "
                  "ipoib-check or ipoib-probe",
                  name);
    else if (n > 1)
        refuse_several(name, error);
    else
        explain_page(out, found->text);
    return n == 1 ? found->id : NULL;
}
