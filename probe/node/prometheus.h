/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target node as metrics, in Prometheus' text format (version 0.0.4) as node_exporter's
 * textfile collector reads it: no time stamps, a HELP and a TYPE for each name. doc/monitoring.md
 * lists them.
 */
#ifndef IPOIB_PROBE_NODE_PROMETHEUS_H
#define IPOIB_PROBE_NODE_PROMETHEUS_H

#include <glib.h>

struct node_run;

GString *node_metrics(const struct node_run *n);

/* Appends a label's value: backslash, quote and line end are escaped. */
void node_put_label(GString *out, const char *name, const char *value);

#endif
