/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ipoib-probe tells on stderr beside its report. */
#include "verdict/say.h"

#include <stdarg.h>
#include <stdio.h>

#include "verdict/plain.h"

void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args), *plain = plain_dup(text);
    va_end(args);
    fprintf(stderr, "ipoib-probe: %s\n", plain);
    g_free(plain);
    g_free(text);
}
