/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of functions that do not print. See fail.h. */
#include "cli/fail.h"

#include <stdarg.h>

/* The only user of an error is a person, so there is one code. */
static GQuark domain(void)
{
    return g_quark_from_static_string("ipoib-error");
}

bool fail_with(GError **error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (error)
        *error = g_error_new_valist(domain(), 0, format, args);
    va_end(args);
    return false;
}
