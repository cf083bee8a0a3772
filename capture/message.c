/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the program tells its user, on stderr. */
#include "capture/message.h"

#include <stdarg.h>
#include <stdio.h>

void say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("ipoib-capture: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}
