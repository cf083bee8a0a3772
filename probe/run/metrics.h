/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prometheus' text format (version 0.0.4) as node_exporter's textfile collector reads it: no time
 * stamps, and a HELP and a TYPE for each name.
 */
#ifndef IPOIB_PROBE_METRICS_H
#define IPOIB_PROBE_METRICS_H

#include <glib.h>

/* Appends the HELP and TYPE of a metric. */
void metrics_put_head(GString *out, const char *name, const char *type, const char *help);
/* Appends NAME="VALUE" as plain text (cli/plain.h); backslash and quote are escaped. */
void metrics_put_label(GString *out, const char *name, const char *value);
/* Appends a space, the value and the end of the line. */
void metrics_put_value(GString *out, double value);

#endif
