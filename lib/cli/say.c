/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages on standard error. See say.h. */
#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>

#include "cli/plain.h"

static const char *program = "ipoib";

void say_as(const char *name)
{
    program = name;
}

void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args), *plain = plain_dup(text);
    va_end(args);
    fprintf(stderr, "%s: %s\n", program, plain);
    g_free(plain);
    g_free(text);
}

bool say_error(const char *name, GError **error)
{
    if (*error && name)
        say("%s: %s", name, (*error)->message);
    else if (*error)
        say("%s", (*error)->message);
    g_clear_error(error);
    return false;
}
