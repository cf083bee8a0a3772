/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes texts safe for reports and terminals. See plain.h. */
#include "cli/plain.h"

#include <glib.h>
#include <string.h>

static const char ellipsis[] = "...";

static gboolean is_plain(gunichar c)
{
    switch (g_unichar_type(c)) {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_UNASSIGNED: /* includes U+FFFE and U+FFFF */
    case G_UNICODE_PRIVATE_USE:
    case G_UNICODE_SURROGATE:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
        return FALSE;
    default:
        return TRUE;
    }
}

/*
 * Writes the output form of the next character of *TEXT to PIECE and advances *TEXT. Returns the
 * bytes written.
 */
static size_t next_piece(const char **text, char piece[16])
{
    unsigned char first = (unsigned char)**text;
    gunichar c = g_utf8_get_char_validated(*text, -1);
    if (c == (gunichar)-1 || c == (gunichar)-2) {
        (*text)++;
        return (size_t)g_snprintf(piece, 16, "\\x%02x", first);
    }
    const char *begin = *text;
    *text = g_utf8_next_char(begin);
    if (!is_plain(c))
        return (size_t)g_snprintf(piece, 16, c < 0x100 ? "\\x%02x" : "\\u{%x}", c);
    memcpy(piece, begin, (size_t)(*text - begin));
    return (size_t)(*text - begin);
}

char *plain_text(const char *text, char *out, size_t size)
{
    char piece[16];
    size_t used = 0, fits = 0; /* fits: end of the text that leaves space for the ellipsis */
    while (*text) {
        size_t n = next_piece(&text, piece);
        if (used + n >= size) {
            memcpy(out + fits, ellipsis, sizeof ellipsis);
            return out;
        }
        memcpy(out + used, piece, n);
        used += n;
        if (used + sizeof ellipsis <= size)
            fits = used;
    }
    out[used] = '\0';
    return out;
}

const char *plain_short(const char *text, char *buffer, size_t size)
{
    size_t n = 0;
    while (n < size && text[n] >= ' ' && text[n] <= '~')
        n++;
    return n < size && text[n] == '\0' ? text : plain_text(text, buffer, size);
}

char *plain_dup(const char *text)
{
    GString *s = g_string_new(NULL);
    char piece[16];
    while (*text) {
        size_t n = next_piece(&text, piece);
        g_string_append_len(s, piece, (gssize)n);
    }
    return g_string_free(s, FALSE);
}
