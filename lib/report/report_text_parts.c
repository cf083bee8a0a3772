/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Colours of the text report on a terminal. */
#include "report/report_text.h"

void text_put_colour(const struct text *t, enum colour colour)
{
    static const char *const codes[] = {"\033[1;31m", "\033[33m", "\033[32m", "\033[1m", "\033[0m"};
    if (t->colours)
        g_string_append(t->out, codes[colour]);
}

void text_put_coloured(const struct text *t, enum colour colour, const char *words)
{
    text_put_colour(t, colour);
    g_string_append(t->out, words);
    text_put_colour(t, PLAIN);
}
