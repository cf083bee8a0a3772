/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target node as metrics (probe/run/metrics.h). doc/monitoring.md lists them. */
#ifndef IPOIB_PROBE_NODE_PROMETHEUS_H
#define IPOIB_PROBE_NODE_PROMETHEUS_H

#include <glib.h>

struct node_run;

GString *node_metrics(const struct node_run *n);

#endif
