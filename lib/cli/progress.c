/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows the progress of a program. See progress.h. */
#include "cli/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define ERASE "\033[K" /* ECMA-48 EL: erases the rest of the line */

bool progress_has_terminal(void)
{
    return isatty(STDERR_FILENO);
}

void progress_line(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    fprintf(stderr, "\r%s" ERASE, text);
    g_free(text);
}

void progress_erase(void)
{
    if (progress_has_terminal())
        fputs("\r" ERASE, stderr);
}

void progress_append(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fflush(stdout);
}
