/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Peers, fabrics and sweeps as metrics (probe/run/metrics.h). doc/monitoring.md lists them. */
#ifndef IPOIB_PROBE_PROBE_METRICS_H
#define IPOIB_PROBE_PROBE_METRICS_H

#include "probe/run/options.h"
#include "probe/run/watched.h"

struct probe_metrics;

struct probe_metrics *probe_metrics_new(const struct options *o, const char *version);
void probe_metrics_free(struct probe_metrics *m);

/* Adds a target that is finished, and not yet closed. */
void probe_metrics_add(struct probe_metrics *m, const struct report *r, const struct checked *j);
/* What the watched peer has shown so far. */
void probe_metrics_watch(struct probe_metrics *m, const struct watched *w);
/* All of it. To be freed. */
GString *probe_metrics_text(const struct probe_metrics *m);

#endif
