/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prometheus' text format. See metrics.h. */
#include "probe/run/metrics.h"

#include "cli/plain.h"

enum { VALUE_SIZE = 40 };

void metrics_put_head(GString *out, const char *name, const char *type, const char *help)
{
    g_string_append_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metrics_put_label(GString *out, const char *name, const char *value)
{
    char *plain = plain_dup(value);
    g_string_append_printf(out, "%s=\"", name);
    for (const char *c = plain; *c; c++) {
        if (*c == '\\' || *c == '"')
            g_string_append_c(out, '\\');
        g_string_append_c(out, *c);
    }
    g_string_append_c(out, '"');
    g_free(plain);
}

/* An integer has no exponent. */
void metrics_put_value(GString *out, double value)
{
    char text[VALUE_SIZE];
    if (value == (double)(int64_t)value)
        g_string_append_printf(out, " %" G_GINT64_FORMAT "\n", (int64_t)value);
    else
        g_string_append_printf(out, " %s\n", g_ascii_formatd(text, sizeof text, "%.6f", value));
}
